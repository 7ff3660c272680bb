import type { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { GatedRoute } from '../routes/route.ts'

/** The admitted route, or the error. */
export type GateResult<MatchedRoute extends GatedRoute> = MatchedRoute | GatehouseError

/** A result, available at once or later. */
export type EventualResult<MatchedRoute extends GatedRoute> =
  | GateResult<MatchedRoute>
  | Promise<GateResult<MatchedRoute>>

/** The steps of a decision about a request, in the order in which they are taken. */
export type DecisionStep = 'request' | 'cors' | 'route' | 'scheme' | 'principal' | 'policy' | 'limits'

/**
 * Is told of each step that a request has passed; the outcome of the request has the results. Only `explain` passes
 * one.
 */
export interface StepListener {
  /** May be called again for a step if a decision based on the cache is confirmed: the last call counts. */
  passed(step: DecisionStep): void
}
