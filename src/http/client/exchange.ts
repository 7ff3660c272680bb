import type { Socket } from 'node:net'
import type { ResponseFraming } from '../exchange/client-exchange.ts'
import type { UpstreamFailure } from './failure.ts'
import type { ResponseHead } from './response-head.ts'

/** What is known of a request before its body. */
export interface RequestOptions {
  readonly method: string
  readonly isUpgrade: boolean
  /** `counted` = as long as its Content-Length says, which the caller has to match. */
  readonly body: 'none' | 'counted' | 'chunked'
  /** Whether no request may follow it on its connection, as its head says. */
  readonly isLast: boolean
  /** Whether it authenticates the connection that it is sent on (see connection-auth.ts). */
  readonly bindsConnection: boolean
  /** Whether its client may wait for a `100` before it sends the body. */
  readonly expectsContinue: boolean
  readonly responseTimeoutMs: number
  readonly idleTimeoutMs: number
}

/** What happens to a request; after onEnd, onUpgrade or onFailure there are no more events. */
export interface ExchangeEvents {
  onInformation(head: ResponseHead): void
  onHead(head: ResponseHead, framing: ResponseFraming): void
  /** @param chunk valid until the call returns, unless it is longer than `smallChunkBytesMax` */
  onData(chunk: Buffer): void
  /** @param last the rest of a counted body, in Latin-1; absent = all of it was data */
  onEnd(trailers: readonly string[], last?: string): void
  onUpgrade(head: ResponseHead, socket: Socket, rest: Buffer): void
  onFailure(failure: UpstreamFailure): void
  /** All events of one read have been reported. @returns whether its memory is released */
  onRead(): boolean
  /** More of the body may be written. */
  onDrain(): void
}
