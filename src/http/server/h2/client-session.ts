import type { Socket } from 'node:net'
import { type MonotonicMs, monotonicClock } from '#platform/time.ts'
import type { ExchangeOptions, OpenConnection } from '../../client-exchange.ts'
import type { FieldList } from '../../h2/framing/control.ts'
import { FrameConnection } from '../../h2/framing/frame-connection.ts'
import type { FrameStream } from '../../h2/framing/frame-stream.ts'
import {
  type ConnectionError,
  errorCode,
  MalformedStream,
  tooMany,
  windowMax,
} from '../../h2/framing/protocol.ts'
import type { NameTable } from '../../message/name-table.ts'
import { HeadTooLarge, MalformedMessage } from '../../request-head.ts'
import { keepAliveMarginMs, sendTimeoutMs } from '../slow-clients.ts'
import type { ConnectionLimits } from '../writable-connection.ts'
import { ClientStream, type StreamOwner } from './client-stream.ts'
import { readRequestHead } from './read-request-head.ts'

export interface SessionLimits extends ConnectionLimits {
  /** How many requests a client may have open on one connection. */
  readonly streamsMax: number
}

/** Takes over connections that clients open with HTTP/2. */
export interface SessionOpener {
  /**
   * @param peerAddress the IP address of the other end
   * @param first what has been read from the socket already
   */
  open(socket: Socket, peerAddress: string, first: Buffer | undefined): OpenConnection
  /** Applies changed limits to what is received from now on; the number of streams to new connections only. */
  reconfigure(limits: SessionLimits): void
}

export function createSessionOpener(options: SessionOptions): SessionOpener {
  // A copy that sessions read at each use, so that changes reach all of them.
  const current = { ...options }
  return {
    open: (socket, peerAddress, first) => new ClientSession(socket, peerAddress, current, first),
    reconfigure: (limits) => void Object.assign(current, limits),
  }
}

interface SessionOptions extends ExchangeOptions, SessionLimits {
  /** The fields that are marked: called for each head. */
  names(): NameTable
  /** Whether this proxy may have terminated TLS, or added it. */
  isTrustedProxy(address: string): boolean
  /** A client was cut off for what it did to its connection, such as a flood of frames. */
  onSessionError(peerAddress: string, error: Error): void
}

/** Flow control: how much of one body, and of all bodies of a connection, a client may send ahead. */
const streamWindowBytes = 262_144
const connectionWindowBytes = 1_048_576

/** A client's HTTP/2 connection. */
class ClientSession implements OpenConnection, StreamOwner {
  readonly socket: Socket
  readonly options: SessionOptions
  readonly peer: StreamOwner['peer']
  /** Always expired, so that each sweep looks at the connection and its streams. */
  readonly deadline = 0
  place = -1
  readonly #connection: FrameConnection
  /** undefined = it accepts requests. */
  #drain: SessionDrain | undefined
  /** Since when there have been no streams and no PINGs. */
  #idleSince: MonotonicMs
  /** When its client was last seen to read, and how often its socket had drained by then. */
  #readAt: MonotonicMs
  #drains = 0

  /** @param first what has been read from the socket already */
  constructor(socket: Socket, peerAddress: string, options: SessionOptions, first: Buffer | undefined) {
    this.socket = socket
    this.options = options
    this.peer = { peerAddress, protocol: 'encrypted' in socket ? 'https' : 'http' }
    this.#idleSince = monotonicClock()
    this.#readAt = this.#idleSince
    const { streamsMax } = options
    this.#connection = new FrameConnection(
      socket,
      {
        isServer: true,
        settings: {
          enableConnectProtocol: 1,
          maxConcurrentStreams: streamsMax,
          initialWindowSize: streamWindowBytes,
          maxHeaderListSize: 2 * options.headBytesMax,
        },
        windowBytes: connectionWindowBytes,
        streamsMax,
        // Doubled, as each field counts 32 bytes more than in HTTP/1.1 (RFC 9113 6.5.2).
        headSizeMax: () => 2 * options.headBytesMax,
      },
      {
        onStream: this.#onStream,
        onSettings: () => {},
        onGoaway: () => {},
        onPing: () => {
          this.#idleSince = options.connections.sweptAt
        },
        onClose: this.#onClose,
      },
    )
    if (first !== undefined) this.#connection.receive(first)
  }

  *exchanges(): Generator<NonNullable<FrameStream['exchange']>> {
    for (const { exchange } of this.#connection.streams) if (exchange !== undefined) yield exchange
  }

  /** Closes the connection once the requests that the client has sent are answered. */
  startDrain(withinMs: number): void {
    if (this.#connection.isClosed) return
    this.#drain ??= new SessionDrain(this.#connection, withinMs)
  }

  readonly #onStream = (stream: FrameStream, list: FieldList, isLast: boolean): void => {
    const { options } = this
    const { fields } = list
    const exchange = new ClientStream(stream, this)
    if (options.isDraining()) this.startDrain(Number.POSITIVE_INFINITY)
    try {
      if (!list.isWhole) throw new HeadTooLarge()
      assertHeadSize(fields, options.headBytesMax)
      this.#assertScheme(fields)
      exchange.begin(readRequestHead(list, isLast, options.names()))
    } catch (error) {
      if (error instanceof MalformedStream) {
        stream.refuse(errorCode.protocolError)
        return
      }
      if (!(error instanceof MalformedMessage || error instanceof HeadTooLarge)) throw error
      const method = pseudoField(fields, ':method') ?? ''
      exchange.isHeadMethod = method === 'HEAD'
      options.onUnreadable(exchange, error, { method, rawHeaders: fields })
    }
  }

  /** The scheme must be the connection's, unless a trusted proxy passes on that of its own client (RFC 9110 7.4). */
  #assertScheme(fields: readonly string[]): void {
    const { peerAddress, protocol } = this.peer
    const scheme = pseudoField(fields, ':scheme')
    if (scheme === protocol || scheme === undefined || scheme.toLowerCase() === protocol) return
    if (!/^https?$/i.test(scheme) || !this.options.isTrustedProxy(peerAddress))
      throw new MalformedMessage(':scheme', `must be ${protocol}, as the connection is`)
  }

  onStreamClosed(): void {
    this.#idleSince = this.options.connections.sweptAt
    this.#drain?.advance()
  }

  expire(now: MonotonicMs): void {
    for (const exchange of this.exchanges()) if (exchange.deadline <= now) exchange.expire(now)
    const { isBlocked, drains } = this.#connection.output
    if (!isBlocked || drains !== this.#drains) this.#readAt = now
    this.#drains = drains
    if (now - this.#readAt > sendTimeoutMs) this.socket.destroy()
    // Nothing else can be read until the unfinished head or frame has ended (RFC 9113 4.3).
    if (now - this.#connection.unfinishedSince > this.options.requestTimeoutMs)
      this.#connection.fail(
        tooMany('a head, or another frame, was not finished within listen.requestTimeout'),
      )
    const idleMs = this.#connection.streams.size === 0 ? now - this.#idleSince : 0
    if (idleMs > this.options.keepAliveTimeoutMs + keepAliveMarginMs)
      this.startDrain(Number.POSITIVE_INFINITY)
  }

  readonly #onClose = (error: ConnectionError | undefined): void => {
    if (error) this.options.onSessionError(this.peer.peerAddress, error)
  }
}

/** undefined = there is none. */
function pseudoField(fields: readonly string[], name: string): string | undefined {
  for (let index = 0; fields[index]?.[0] === ':'; index += 2)
    if (fields[index] === name) return fields[index + 1]
  return undefined
}

/** The size of a head as HTTP/1.1 would write it. */
function assertHeadSize(raw: readonly string[], bytesMax: number): void {
  let bytes = 0
  for (const text of raw) bytes += text.length + 2
  if (bytes > bytesMax) throw new HeadTooLarge()
}

/** How long a client may take to answer a PING before it is assumed to have read what came before. */
const roundTripMsMax = 250

/**
 * Ends a connection without losing a request (RFC 9113 6.8): a first GOAWAY names no last stream, so that requests in
 * transit are still served. A round trip later the last one is known, and named; the connection ends with its response.
 *
 * Clients built on nghttp2 may send the next request as soon as they have read a response, and that request fails if
 * they have read a GOAWAY along with the response. So no response ends during the round trip before the first GOAWAY;
 * those that would have are ended right after it.
 */
class SessionDrain {
  readonly #connection: FrameConnection
  readonly #stepMsMax: number
  #step: 'quiet' | 'announced' | 'last named' = 'quiet'

  /** @param withinMs how long the whole drain may take */
  constructor(connection: FrameConnection, withinMs: number) {
    this.#connection = connection
    this.#stepMsMax = Math.min(roundTripMsMax, withinMs / 4)
    connection.holdEnds()
    this.#awaitRoundTrip()
  }

  /** To be called whenever a stream has ended. */
  advance(): void {
    const connection = this.#connection
    if (this.#step === 'last named' && connection.streams.size === 0) connection.end()
  }

  #awaitRoundTrip(): void {
    const step = this.#step
    const next = () => {
      if (this.#step === step) this.#takeStep()
    }
    this.#connection.ping(next)
    setTimeout(next, this.#stepMsMax).unref()
  }

  #takeStep(): void {
    const connection = this.#connection
    if (connection.isClosed) return
    if (this.#step === 'quiet') {
      this.#step = 'announced'
      connection.writeGoaway(windowMax, errorCode.noError)
      connection.releaseEnds()
      this.#awaitRoundTrip()
      return
    }
    this.#step = 'last named'
    connection.writeGoaway(connection.refuseStreams(), errorCode.noError)
    this.advance()
  }
}
