import type { DeadlineSweep } from '#platform/deadline.ts'
import type { OpenConnection } from '../exchange/client-exchange.ts'
import type { RequestHead, Unreadable } from '../exchange/request-head.ts'
import type { NameTable } from './name-table.ts'
import type { KeepAlive } from './response-writer.ts'

/** The limits of a connection. */
export interface ConnectionLimits {
  /** From the first byte of a head to its last, and from opening the connection to the first byte. */
  readonly requestTimeoutMs: number
  readonly keepAliveTimeoutMs: number
  readonly headBytesMax: number
  /** Minimum rate of a request's body while the gateway waits for it, in bytes a second over 10 s; from 1. */
  readonly bodyRateMin: number
}

/** The settings of a connection, and the callbacks for what its client sends. */
export interface ConnectionOptions<Connection> extends Omit<ConnectionLimits, 'keepAliveTimeoutMs'> {
  readonly keepAlive: KeepAlive
  /** The fields whose lines are marked: called for each head. */
  names(): NameTable
  /** Watches the deadlines of all connections. */
  readonly connections: Pick<DeadlineSweep<OpenConnection>, 'sweptAt' | 'remove'>
  /** Watches the deadlines of bodies. */
  readonly bodies: Pick<DeadlineSweep, 'add' | 'remove'>
  /**
   * The connection begins with the preface of HTTP/2, and no longer belongs to this object. undefined = HTTP/2 is not
   * enabled here.
   */
  readonly onPreface: ((connection: OpenConnection, bytes: Buffer) => void) | undefined
  /** Whether responses announce that the connection ends: called for each response. */
  isDraining(): boolean
  onRequest(connection: Connection, head: RequestHead): void
  /** The client gets a response nevertheless, with which the connection ends. */
  onUnreadable(connection: Connection, what: Unreadable): void
  /** The exchange of a request has ended. @param isComplete whether the complete response was sent */
  onEnd(connection: Connection, isComplete: boolean): void
}
