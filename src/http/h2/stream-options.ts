import type { Socket } from 'node:net'
import type { DeadlineSweep } from '#platform/deadline.ts'
import type { ClientExchange } from '../exchange/client-exchange.ts'
import type { HeadTooLarge, MalformedMessage, RequestHead } from '../exchange/request-head.ts'

/** The settings of streams, read at each use, and the callbacks for what clients send. */
export interface StreamOptions {
  /** Minimum rate of a request's body while the gateway waits for it, in bytes a second over 10 s; from 1. */
  readonly bodyRateMin: number
  /** Watches the deadlines of all connections. */
  readonly connections: Pick<DeadlineSweep, 'sweptAt'>
  /** Watches the deadlines of bodies. */
  readonly bodies: Pick<DeadlineSweep, 'add' | 'remove'>
  onRequest(exchange: ClientExchange, head: RequestHead): void
  /** The client gets a response nevertheless. */
  onUnreadable(exchange: ClientExchange, what: MalformedMessage | HeadTooLarge): void
  /** The exchange of a request has ended. @param isComplete whether the complete response was sent */
  onEnd(exchange: ClientExchange, isComplete: boolean): void
}

/** The other end of a connection. */
export interface Peer {
  readonly peerAddress: string
  readonly protocol: 'http' | 'https'
}

/** The connection that a stream belongs to. */
export interface StreamOwner {
  readonly socket: Socket
  readonly peer: Peer
  readonly options: StreamOptions
  onStreamClosed(): void
}
