import type { BalancingClient } from './balancer.ts'
import type { ExchangeEvents, RequestOptions } from './exchange.ts'
import type { PoolUser } from './pool/claim.ts'
import type { Target } from './target.ts'
import type { UpstreamConnection } from './upstream-connection.ts'

export interface UpstreamRequest extends RequestOptions, BalancingClient, PoolUser {
  /** The whole head for a target, with the empty line at its end. */
  headFor(target: Target): string
}

export interface CallEvents extends ExchangeEvents {
  /**
   * The head was sent to a target: now the body may follow, or go on if the request is sent again.
   * @param now on the clock of performance.now()
   */
  onSent(target: Target, now: number): void
}

/** A request that is on its way, on a connection that was idle. */
export interface SentRequest {
  /** It counts as one in flight there. */
  readonly target: Target
  readonly connection: UpstreamConnection
  /** Whether the head of its response has arrived. */
  readonly isAnswered: boolean
}
