import {
  constants,
  type IncomingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { Socket } from 'node:net'
import type { ClientExchange, OpenConnection } from '../exchange/client-exchange.ts'
import { HeadTooLarge, MalformedMessage } from '../exchange/malformed-message.ts'
import type { Expiring } from '../http1/deadline-sweep.ts'
import { keepAliveMarginMs } from '../http1/timeouts.ts'
import { ClientStream } from './client-stream.ts'
import type { HeadCache } from './head-cache.ts'
import { SessionDrain } from './session-drain.ts'
import type { Peer, StreamOptions, StreamOwner } from './stream-options.ts'

export interface SessionOptions extends StreamOptions {
  /** Shared by all connections. */
  readonly headCache: Pick<HeadCache, 'read'>
  readonly keepAliveTimeoutMs: number
  readonly headBytesMax: number
  /** How many requests a client may have open on one connection. */
  readonly streamsMax: number
  isDraining(): boolean
  /** A client was cut off for what it did to its connection, such as a flood of frames. */
  onSessionError(peerAddress: string, error: Error): void
}

/** Flow control: how much of one body, and of all bodies of a connection, a client may send ahead. */
const streamWindowBytes = 262_144
const connectionWindowBytes = 1_048_576
/** How many PING and SETTINGS frames a client may send: more than gRPC does to measure a fast connection. */
const controlFramesMax = 10_000
const controlWindowMs = 10_000
/** An upper bound for node:http2; what a head may hold is decided by its size. */
const fieldsMax = 1_000

/** A client's connection in HTTP/2. */
export class ClientSession implements OpenConnection, Expiring, StreamOwner {
  readonly socket: Socket
  readonly options: SessionOptions
  readonly peer: Peer
  /** Passed: each sweep looks at the connection and its streams. Timers of node:http2 are set again at each frame. */
  readonly deadline = 0
  readonly #session: ServerHttp2Session
  readonly #streams = new Set<ClientExchange & Expiring>()
  /** undefined = it takes requests. */
  drain: SessionDrain | undefined
  #opened = 0
  /** Since when it has had no streams and no PINGs, on the clock of performance.now(). */
  #idleSince: number
  #controlFrames = 0
  #countedSince = 0

  constructor(socket: Socket, peer: Peer, options: SessionOptions) {
    this.socket = socket
    this.options = options
    this.peer = peer
    this.#session = performServerHandshake(socket, {
      maxHeaderListPairs: fieldsMax,
      // What a backend repeats goes to the client as it is.
      strictSingleValueFields: false,
      settings: {
        enableConnectProtocol: true,
        maxConcurrentStreams: options.streamsMax,
        initialWindowSize: streamWindowBytes,
        // Twice as much, so that a head that is a little too large gets its 431.
        maxHeaderListSize: 2 * options.headBytesMax,
      },
    })
    this.#session.setLocalWindowSize(connectionWindowBytes)
    this.#session.on('stream', this.#onStream).on('error', this.#onError)
    this.#session.on('ping', this.#countControlFrame).on('remoteSettings', this.#countControlFrame)
    this.#session.on('close', () => options.sweep.remove(this))
    options.sweep.add(this)
    this.#idleSince = performance.now()
  }

  exchanges(): Iterable<ClientExchange> {
    return this.#streams
  }

  /** Closes the connection once the requests that the client has sent are answered. */
  startDrain(withinMs: number): void {
    if (this.drain || this.#session.destroyed) return
    const drained = { session: this.#session, openedStreams: () => this.#opened }
    this.drain = new SessionDrain(drained, withinMs)
  }

  readonly #onStream = (
    stream: ServerHttp2Stream,
    _headers: IncomingHttpHeaders,
    flags: number,
    raw: string[],
  ): void => {
    const { options } = this
    const exchange = new ClientStream(stream, this)
    this.#streams.add(exchange)
    this.#opened++
    if (options.isDraining()) this.startDrain(Number.POSITIVE_INFINITY)
    try {
      assertHeadSize(raw, options.headBytesMax)
      exchange.begin(options.headCache.read(raw, (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0))
    } catch (error) {
      if (!(error instanceof MalformedMessage || error instanceof HeadTooLarge)) throw error
      options.onUnreadable(exchange, error)
    }
  }

  onStreamClosed(stream: ClientExchange & Expiring): void {
    this.#streams.delete(stream)
    this.#idleSince = this.options.sweep.sweptAt
  }

  expire(now: number): void {
    for (const stream of this.#streams) if (stream.deadline <= now) stream.expire(now)
    const idleMs = this.#streams.size === 0 ? now - this.#idleSince : 0
    if (idleMs > this.options.keepAliveTimeoutMs + keepAliveMarginMs)
      this.startDrain(Number.POSITIVE_INFINITY)
  }

  /** Each is answered, and costs its sender next to nothing. */
  readonly #countControlFrame = (): void => {
    const now = performance.now()
    this.#idleSince = now
    if (now - this.#countedSince > controlWindowMs) {
      this.#countedSince = now
      this.#controlFrames = 0
    }
    if (++this.#controlFrames !== controlFramesMax) return
    const error = new Error(
      `${controlFramesMax} PING and SETTINGS frames within ${controlWindowMs / 1_000} s`,
    )
    this.#session.destroy(error, constants.NGHTTP2_ENHANCE_YOUR_CALM)
  }

  readonly #onError = (error: Error): void => {
    this.options.onSessionError(this.peer.peerAddress, error)
  }
}

/** The size of a head as HTTP/1.1 would write it. */
function assertHeadSize(raw: readonly string[], bytesMax: number): void {
  let bytes = 0
  for (const text of raw) bytes += text.length + 2
  if (bytes > bytesMax) throw new HeadTooLarge()
}
