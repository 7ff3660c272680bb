import type { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { GatedRoute } from '../routes/route.ts'

/** The admitted route, or the error. */
export type GateResult<MatchedRoute extends GatedRoute> = MatchedRoute | GatehouseError

/** A result, available at once or later. */
export type EventualResult<MatchedRoute extends GatedRoute> =
  | GateResult<MatchedRoute>
  | Promise<GateResult<MatchedRoute>>
