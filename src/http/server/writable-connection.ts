import type { Socket } from 'node:net'
import { unmappedAddress } from '#platform/addresses.ts'
import type { DeadlineSweep } from '#platform/deadline-sweep.ts'
import { type MonotonicMs, monotonicClock } from '#platform/time.ts'
import { type ClientCertificate, clientCertificateOf } from '../client-certificate.ts'
import type { ExchangeOptions, OpenConnection, RequestEvents, ResponseFraming } from '../client-exchange.ts'
import type { RequestHead } from '../request-head.ts'
import { hasWrittenAll } from '../socket-writes.ts'
import type { ClientSocket } from './client-socket.ts'
import type { ParserOptions } from './request-parser.ts'
import { type KeepAlive, ResponseWriter } from './response-writer.ts'
import { BodyRate, sendTimeoutMs } from './slow-clients.ts'

/** The limits of a connection. */
export interface ConnectionLimits extends Pick<ExchangeOptions, 'bodyRateMin'> {
  /**
   * From the first byte of a head to its last, and from opening the connection to the first byte; in HTTP/2 to its
   * first frames.
   */
  readonly requestTimeoutMs: number
  readonly keepAliveTimeoutMs: number
  readonly headBytesMax: number
}

/** The settings of a connection, and the callbacks for what its client sends. */
export interface ConnectionOptions
  extends ExchangeOptions,
    Omit<ConnectionLimits, 'keepAliveTimeoutMs'>,
    ParserOptions {
  readonly keepAlive: KeepAlive
  readonly connections: Pick<DeadlineSweep<OpenConnection>, 'sweptAt' | 'remove'>
  /**
   * The connection begins with the preface of HTTP/2, and no longer belongs to this object. undefined = HTTP/2 is not
   * enabled here.
   */
  readonly onPreface: ((connection: HandedOver, bytes: Buffer) => void) | undefined
}

/** A connection that no longer belongs to the object that accepted it. */
export interface HandedOver extends OpenConnection {
  /** The IP address of the other end: if it has reset the connection, its socket no longer knows it. */
  readonly peerAddress: string
}

/**
 * The part of a client's connection that does not read: who handles its request, what is sent, and how long the client
 * may take to read it. Its public members are those of ClientExchange, where they are described.
 */
export abstract class WritableConnection {
  protected readonly clientSocket: ClientSocket
  readonly peerAddress: string
  readonly protocol: 'http' | 'https'
  head: RequestHead | undefined
  listenerState: object | undefined
  readonly session = undefined
  deadline: MonotonicMs
  place = -1
  /** The handler of the current request. */
  protected events: RequestEvents | undefined
  protected readonly options: ConnectionOptions
  protected readonly writer: ResponseWriter
  protected readonly bodyRate: BodyRate

  constructor(socket: ClientSocket, options: ConnectionOptions) {
    this.clientSocket = socket
    this.peerAddress = unmappedAddress(socket.remoteAddress ?? '')
    this.protocol = socket.isEncrypted ? 'https' : 'http'
    this.options = options
    this.writer = new ResponseWriter(socket, options.keepAlive)
    this.bodyRate = new BodyRate(options, this)
    this.deadline = monotonicClock() + options.requestTimeoutMs
  }

  get socket(): Socket {
    return this.clientSocket.stream
  }

  get clientCertificate(): ClientCertificate | undefined {
    return this.clientSocket.isEncrypted ? clientCertificateOf(this.socket) : undefined
  }

  get isHttp2(): boolean {
    return false
  }

  get hasWrittenAll(): boolean {
    return hasWrittenAll(this.clientSocket)
  }

  attach(events: RequestEvents | undefined): void {
    this.events = events
  }

  detach(): void {
    const { events } = this
    this.events = undefined
    events?.onAbort()
  }

  /** Nothing to do: each response says whether it is the last. */
  startDrain(): void {}

  /** The complete response was passed to the system, or cannot be. */
  protected abstract readonly onAnswerWritten: (error?: Error | null) => void

  /** The body of the request arrives more slowly than `limits.bodyRate`. */
  abstract onBodyTooSlow(): void

  get framing(): ResponseFraming {
    return this.writer.framing
  }

  get isHeadSent(): boolean {
    return this.writer.hasBegun
  }

  writeInformation(status: number, reason: string, lines: string): boolean {
    if (status === 100) this.bodyRate.onContinue()
    return this.writer.writeInformation(status, reason, lines) || this.startSendTimeout()
  }

  write(chunk: Buffer): boolean {
    return this.writer.write(chunk) || this.startSendTimeout()
  }

  flush(): boolean {
    return this.writer.flush() || this.startSendTimeout()
  }

  end(last = '', trailers = ''): void {
    this.startSendTimeout()
    this.writer.end(last, trailers, this.onAnswerWritten)
  }

  abort(): void {
    this.writer.writeParts()
    // To an HTTP/1.0 client the end of the connection is the end of the body: only a reset shows that it was cut off.
    if (this.head?.minorVersion === 0 && this.protocol === 'http') this.socket.resetAndDestroy()
    else this.clientSocket.destroy()
  }

  startSendTimeout(): false {
    this.deadline = this.options.connections.sweptAt + sendTimeoutMs
    return false
  }
}
