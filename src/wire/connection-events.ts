import type { HeadTooLarge, MalformedMessage } from './malformed.ts'
import type { RecentFields } from './recent-fields.ts'
import type { RequestHead } from './request-head.ts'
import type { KeepAlive } from './response-writer.ts'
import type { Sweep } from './sweep.ts'

/** Why there is no request to answer, though something came. */
export type Unreadable = MalformedMessage | HeadTooLarge | 'timeout'

/** Who carries out a request: takes its body, and is told what happens to its client. */
export interface RequestEvents {
  /** Whether the answer goes past this connection, straight to the socket: nothing may come between. */
  readonly isLent?: boolean
  onBodyData(chunk: Buffer): void
  /** Whether nothing of what `onBodyData` was handed is in use any more. */
  hasPassedAll(): boolean
  /** @param trailers name, value, name, value */
  onBodyEnd(trailers: readonly string[]): void
  /** The rest of the body cannot be read; the connection ends with the answer. */
  onBodyBroken(error: MalformedMessage): void
  /** More of the answer may be written. */
  onClientDrain(): void
  /** The client has left before the whole answer had. */
  onGone(): void
}

/** What connections may take. */
export interface ConnectionLimits {
  /** From the first byte of a head to its last, and from the connection to the first. */
  readonly requestTimeoutMs: number
  readonly keepAliveTimeoutMs: number
  readonly headBytesMax: number
}

/** What is to be done with what clients send. */
export interface ConnectionOptions<Connection> extends Omit<ConnectionLimits, 'keepAliveTimeoutMs'> {
  readonly keepAlive: KeepAlive
  /** Of all connections together. */
  readonly recentFields: RecentFields
  /** What looks after the deadlines of all of them. */
  readonly sweep: Pick<Sweep, 'sweptAt'>
  /** Whether answers are to say that the connection ends: asked for each. */
  isDraining(): boolean
  onRequest(connection: Connection, head: RequestHead): void
  /** To be answered all the same; the connection ends with it. */
  onUnreadable(connection: Connection, what: Unreadable): void
  /** The exchange of a request is over. @param isComplete whether the whole answer has left */
  onEnd(connection: Connection, isComplete: boolean): void
}
