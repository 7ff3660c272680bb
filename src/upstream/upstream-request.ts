import type { BalancingClient } from './balancer.ts'
import type { ExchangeEvents, RequestOptions } from './exchange.ts'
import type { PoolUser } from './pool/claim.ts'
import type { Target } from './target.ts'

export interface UpstreamRequest extends RequestOptions, BalancingClient, PoolUser {
  /** The whole head for a target, with the empty line at its end. */
  head(target: Target): string
}

export interface CallEvents extends ExchangeEvents {
  /**
   * The head was sent to a target: now the body may follow, or go on if the request is sent again.
   * @param now on the clock of performance.now()
   */
  onSent(target: Target, now: number): void
}
