import type { KeyUses } from '../accounts/key-uses.ts'
import type { Authenticator } from '../auth/authenticator.ts'
import { authorize } from '../auth/authorize.ts'
import type { Decision } from '../auth/decision.ts'
import { takeRate } from '../auth/limits.ts'
import type { RateLimiter } from '../auth/rate-limiter.ts'
import { GatehouseError, sharedError } from '../errors/gatehouse-error.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { GatedRoute, RateLimit, SchemeName } from '../routes/route.ts'
import type { Rate } from '../store/rates.ts'
import type { Arrival } from './arrival.ts'
import { createDecisionCounter } from './decision-counts.ts'
import { recordDecision, recordRoute } from './outcome.ts'
import { createRefuse } from './refuse.ts'
import { isWebSocketUpgrade } from './upgrade.ts'

export interface GateOptions<MatchedRoute extends GatedRoute> {
  /** The route of a request, or the error it is refused with. */
  readonly findRoute: (arrival: Arrival) => GateResult<MatchedRoute>
  readonly authenticator: Authenticator
  readonly limiter: RateLimiter
  /** How many invalid credentials one client address may send. */
  readonly failures: Rate
  readonly metrics: Metrics
  /** Called for every valid secret key, even if the request is then refused with 403 or 429. */
  readonly keyUses: Pick<KeyUses, 'record'>
}

/** The admitted route, or the error the request is refused with. */
export type GateResult<MatchedRoute extends GatedRoute> = MatchedRoute | GatehouseError

/**
 * Decides about a request before a byte of its body is read: its route, the caller, access and rate. Synchronous if all
 * is cached. A refusal is returned, not thrown: a throw takes as long as all the rest, and functions that end with one
 * are never compiled.
 * @throws GatehouseError `store-unavailable`, synchronously or as a rejection, if it cannot be decided
 */
export type Gate<MatchedRoute extends GatedRoute> = (
  arrival: Arrival,
) => GateResult<MatchedRoute> | Promise<GateResult<MatchedRoute>>

/** How long the use of a key is not recorded again for the same head from the same address. */
const keyUseIntervalMs = 1_000

type Allowed = Extract<Decision, { readonly kind: 'allowed' }>

export function createGate<MatchedRoute extends GatedRoute>(
  options: GateOptions<MatchedRoute>,
): Gate<MatchedRoute> {
  const { findRoute, authenticator, limiter, metrics, keyUses } = options
  const refuse = createRefuse(options)
  const count = createDecisionCounter(metrics)

  /** @param isConfirmed whether the decision is based on the store's current state, not on the cache */
  function admit(
    route: MatchedRoute,
    arrival: Arrival,
    decision: Decision,
    isConfirmed = false,
  ): GateResult<MatchedRoute> | Promise<GateResult<MatchedRoute>> {
    recordDecision(arrival.outcome, decision)
    if (decision.kind === 'refused') {
      const error = refuse(decision, arrival)
      return error instanceof Promise
        ? error.then((settled) => countRefusal(decision.scheme, settled))
        : countRefusal(decision.scheme, error)
    }
    recordKeyUse(arrival, decision)
    const code = authorize(route.access, decision.principal)
    if (code !== undefined && !isConfirmed) return admitConfirmed(route, arrival, decision)
    if (code !== undefined) return countRefusal(decision.scheme, sharedError(code))
    if (route.rateLimit) return admitRateLimited(route, route.rateLimit, arrival, decision)
    count(decision.scheme, undefined)
    return route
  }

  async function admitRateLimited(
    route: MatchedRoute,
    rateLimit: RateLimit,
    { client: { address } }: Arrival,
    { scheme, principal }: Allowed,
  ): Promise<GateResult<MatchedRoute>> {
    const excess = await takeRate(limiter, route.name, rateLimit, { principal, address })
    if (excess) return countRefusal(scheme, excess)
    count(scheme, undefined)
    return route
  }

  /** Counts a refusal by the code sent to the client. */
  function countRefusal(scheme: SchemeName | undefined, error: GatehouseError): GatehouseError {
    count(scheme, error.code)
    return error
  }

  /** A caller refused because of a cached record may have another role by now, or be verified. */
  async function admitConfirmed(
    route: MatchedRoute,
    arrival: Arrival,
    decision: Decision,
  ): Promise<GateResult<MatchedRoute>> {
    const isUpToDate = await authenticator.confirm().then(
      () => true,
      () => false,
    )
    const { credentials } = arrival.fields
    const latest = isUpToDate
      ? await authenticator.decide(route.access, credentials, performance.now())
      : decision
    return admit(route, arrival, latest, true)
  }

  function recordKeyUse({ fields, client, arrivedAt }: Arrival, { principal }: Allowed): void {
    const { credentials } = fields
    if (principal === undefined || credentials.kind !== 'secretKey') return
    if (credentials.useRecordedFrom === client.address && arrivedAt < credentials.useRecordedUntil) return
    credentials.useRecordedFrom = client.address
    credentials.useRecordedUntil = arrivedAt + keyUseIntervalMs
    keyUses.record(principal.accountId, credentials.text, client.address, 'secretKey')
  }

  return function gate(arrival) {
    const route = findRoute(arrival)
    if (route instanceof GatehouseError) return route
    recordRoute(arrival.outcome, route)
    // Before the decision: what follows a refused upgrade is not a request.
    if (route.websocket && isWebSocketUpgrade(arrival.head)) arrival.connection.closeAfterAnswer()
    const decision = authenticator.decide(route.access, arrival.fields.credentials, arrival.arrivedAt)
    return decision instanceof Promise
      ? decision.then((settled) => admit(route, arrival, settled))
      : admit(route, arrival, decision)
  }
}
