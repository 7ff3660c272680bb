import type { DeadlineSweep } from './deadline-sweep.ts'
import type { HeadCache } from './head-cache.ts'
import type { BodyTooSlow, HeadTooLarge, MalformedMessage } from './malformed-message.ts'
import type { RequestHead } from './request-head.ts'
import type { KeepAlive } from './response-writer.ts'

/** Why what the client sent is no request that can be answered. */
export type Unreadable = MalformedMessage | HeadTooLarge | 'timeout'

/** What carries out a request: it takes the body, and is told what happens to the client. */
export interface RequestEvents {
  /** Whether the answer goes past this connection, straight to the socket: the connection may write nothing then. */
  readonly writesToSocket?: boolean
  onBodyData(chunk: Buffer): void
  /** Whether no chunk that `onBodyData` was handed is in use any more. */
  isChunkReleased(): boolean
  /** @param trailers name, value, name, value */
  onBodyEnd(trailers: readonly string[]): void
  /** The rest of the body cannot be read; the connection ends with the answer. */
  onBodyError(error: MalformedMessage | BodyTooSlow): void
  /** More of the answer may be written. */
  onClientDrain(): void
  /** The client has left before the whole answer was sent. */
  onAbort(): void
}

/** The limits of a connection. */
export interface ConnectionLimits {
  /** From the first byte of a head to its last, and from the opening of the connection to the first byte. */
  readonly requestTimeoutMs: number
  readonly keepAliveTimeoutMs: number
  readonly headBytesMax: number
  /** Bytes a second, over 10 s, that a body must come with while it is waited for; from 1. */
  readonly bodyRateMin: number
}

/** What a connection works with, and whom it tells what its client sends. */
export interface ConnectionOptions<Connection> extends Omit<ConnectionLimits, 'keepAliveTimeoutMs'> {
  readonly keepAlive: KeepAlive
  /** Shared by all connections. */
  readonly headCache: HeadCache
  /** It watches the deadlines of all connections. */
  readonly sweep: Pick<DeadlineSweep, 'sweptAt' | 'add' | 'remove'>
  /** Whether answers are to say that the connection ends: asked for each answer. */
  isDraining(): boolean
  onRequest(connection: Connection, head: RequestHead): void
  /** The client is to get an answer all the same; the connection ends with it. */
  onUnreadable(connection: Connection, what: Unreadable): void
  /** The exchange of a request is over. @param isComplete whether the whole answer has left */
  onEnd(connection: Connection, isComplete: boolean): void
}
