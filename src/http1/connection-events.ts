import type { DeadlineSweep } from './deadline-sweep.ts'
import type { HeadCache } from './head-cache.ts'
import type { BodyTooSlow, HeadTooLarge, MalformedMessage } from './malformed-message.ts'
import type { RequestHead } from './request-head.ts'
import type { KeepAlive } from './response-writer.ts'

/** Why the client's input is not a request that can be handled. */
export type Unreadable = MalformedMessage | HeadTooLarge | 'timeout'

/** The handler of a request: it gets the body, and learns what happens to the client. */
export interface RequestEvents {
  /** Whether the response is written directly to the socket: then the connection must not write. */
  readonly writesToSocket?: boolean
  onBodyData(chunk: Buffer): void
  /** Whether every chunk passed to `onBodyData` has been released. */
  isChunkReleased(): boolean
  /** @param trailers name, value, name, value */
  onBodyEnd(trailers: readonly string[]): void
  /** The rest of the body cannot be read; the connection ends with the response. */
  onBodyError(error: MalformedMessage | BodyTooSlow): void
  /** More of the response may be written. */
  onClientDrain(): void
  /** The client disconnected before the whole response was sent. */
  onAbort(): void
}

/** The limits of a connection. */
export interface ConnectionLimits {
  /** From the first byte of a head to its last, and from the opening of the connection to the first byte. */
  readonly requestTimeoutMs: number
  readonly keepAliveTimeoutMs: number
  readonly headBytesMax: number
  /** Minimum rate of a request's body while the gateway waits for it, in bytes a second over 10 s; from 1. */
  readonly bodyRateMin: number
}

/** The settings of a connection, and the callbacks for what its client sends. */
export interface ConnectionOptions<Connection> extends Omit<ConnectionLimits, 'keepAliveTimeoutMs'> {
  readonly keepAlive: KeepAlive
  /** Shared by all connections. */
  readonly headCache: HeadCache
  /** It watches the deadlines of all connections. */
  readonly sweep: Pick<DeadlineSweep, 'sweptAt' | 'add' | 'remove'>
  /** Whether responses are to announce that the connection ends: asked for each response. */
  isDraining(): boolean
  onRequest(connection: Connection, head: RequestHead): void
  /** The client is to get a response nevertheless; the connection ends with it. */
  onUnreadable(connection: Connection, what: Unreadable): void
  /** The exchange of a request is over. @param isComplete whether the whole response was sent */
  onEnd(connection: Connection, isComplete: boolean): void
}
