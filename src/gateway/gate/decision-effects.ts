import type { KeyUses } from '#accounts/keys/uses.ts'
import type { RouteRate } from '#identity/access.ts'
import { certificateCarrier } from '#identity/carriers.ts'
import type { AllowedDecision, Decision, DecisionScheme, Principal, Refusal } from '#identity/decision.ts'
import type { TakePlanLimits } from '#identity/limits/plans.ts'
import type { RateLimiter } from '#identity/limits/rate-limiter.ts'
import { type Excess, takeRate } from '#identity/limits/take-rate.ts'
import type { Metrics } from '#ops/metrics/metrics.ts'
import type { ErrorCode } from '#platform/errors/codes.ts'
import type { Allowance, GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { memoize, memoizeLast } from '#platform/memoize.ts'
import { copyString } from '#platform/text.ts'
import type { MonotonicMs } from '#platform/time.ts'
import type { Rate } from '#store/rates.ts'
import { credentialsOf, type GatedArrival } from '../arrival/arrival.ts'
import { beginAllowances } from '../arrival/outcome.ts'
import { createCredentialRefusal } from '../refusals/credential-refusal.ts'
import type { GatedRoute } from '../routes/route.ts'
import type { EventualResult, GateResult } from './gate-result.ts'

export interface DecisionEffectsOptions {
  readonly limiter: RateLimiter
  readonly takePlanLimits: TakePlanLimits
  /** How many invalid credentials one client address may send. */
  readonly failures: Rate
  /** undefined = decisions are not counted. */
  readonly metrics: Pick<Metrics, 'decisions'> | undefined
  /** Called for every valid secret key, even if the request is then refused with 403 or 429. */
  readonly keyUses: Pick<KeyUses, 'record'>
}

/** After a use of a credential was recorded, the next ones from the same address are not recorded for this long. */
const keyUseIntervalMs = 1_000

/** Counts decisions and takes limits. Its functions are synchronous unless the store has to be asked. */
export function createDecisionEffects(options: DecisionEffectsOptions) {
  const { limiter, takePlanLimits, failures, metrics, keyUses } = options
  const count = createDecisionCounter(metrics)
  const refusalError = createCredentialRefusal(limiter, failures)

  /**
   * Records the use of a valid secret key, unless the latest recorded one was from the same address less than a second
   * ago. The time is noted on the credential, which requests with the same key share.
   */
  function recordKeyUse(arrival: GatedArrival, { principal, scheme }: AllowedDecision): void {
    const { client, arrivedAt } = arrival
    const credentials = credentialsOf(arrival)
    // What came as a key may have turned out to be a token of an issuer.
    if (principal === undefined || scheme !== 'secretKey' || credentials.kind !== 'secretKey') return
    if (credentials.useRecordedFrom === client.address && arrivedAt < credentials.useRecordedUntil) return
    credentials.useRecordedFrom = copyString(client.address)
    credentials.useRecordedUntil = Math.floor(arrivedAt) + keyUseIntervalMs
    const isDigest = credentials.carrier === certificateCarrier
    keyUses.record(principal.accountId, credentials.text, client.address, 'secretKey', isDigest)
  }

  /** Counts the request against its rate, the quota of its key and the plan, and counts the decision. */
  function takeLimits<MatchedRoute extends GatedRoute>(
    route: MatchedRoute,
    arrival: GatedArrival,
    decision: AllowedDecision,
  ): EventualResult<MatchedRoute> {
    const excess = takeRateAndPlan(route.rateLimit, arrival, decision)
    return excess instanceof Promise
      ? excess.then((countAllowed<MatchedRoute>).bind(undefined, route, decision.scheme))
      : countAllowed(route, decision.scheme, excess)
  }

  function takeRateAndPlan(
    rate: RouteRate | undefined,
    { client, arrivedAt, outcome }: GatedArrival,
    { principal }: AllowedDecision,
  ): Excess | Promise<Excess> {
    if (rate === undefined && principal?.plan === undefined && principal?.quota === undefined)
      return undefined
    const allowances = beginAllowances(outcome)
    const excess = rate && takeRate(limiter, rate, { principal, address: client.address }, allowances)
    return excess instanceof Promise
      ? excess.then(takePlan.bind(undefined, principal, arrivedAt, allowances))
      : takePlan(principal, arrivedAt, allowances, excess)
  }

  function takePlan(
    principal: Principal | undefined,
    arrivedAt: MonotonicMs,
    allowances: Allowance[],
    excess: Excess,
  ): Excess | Promise<Excess> {
    return excess ?? takePlanLimits(principal, arrivedAt, allowances)
  }

  function countAllowed<MatchedRoute extends GatedRoute>(
    route: MatchedRoute,
    scheme: DecisionScheme | undefined,
    excess: Excess,
  ): GateResult<MatchedRoute> {
    if (excess) return countRefusal(scheme, excess)
    count(scheme, undefined)
    return route
  }

  /**
   * Counts a refused credential against the client's address, and the decision by the code sent to the client.
   * @returns the error for the client
   */
  function countRefusedCredential(
    { access }: GatedRoute,
    arrival: GatedArrival,
    decision: Refusal,
  ): GatehouseError | Promise<GatehouseError> {
    const error = refusalError(decision, access, arrival)
    return error instanceof Promise
      ? error.then(countRefusal.bind(undefined, decision.scheme))
      : countRefusal(decision.scheme, error)
  }

  /** Counts a decision that is refused with this error. @returns the error */
  function countRefusal(scheme: DecisionScheme | undefined, error: GatehouseError): GatehouseError {
    count(scheme, error.code)
    return error
  }

  /** Applies all effects of a final decision: those above, in their order. */
  function apply<MatchedRoute extends GatedRoute>(
    route: MatchedRoute,
    arrival: GatedArrival,
    decision: Decision,
  ): EventualResult<MatchedRoute> {
    if (decision.kind === 'refused') return countRefusedCredential(route, arrival, decision)
    recordKeyUse(arrival, decision)
    return takeLimits(route, arrival, decision)
  }

  return { apply, recordKeyUse, takeLimits, countRefusedCredential, countRefusal }
}

/** Counts decisions by scheme, refusals also by code. */
function createDecisionCounter(metrics: Pick<Metrics, 'decisions'> | undefined) {
  if (!metrics) return () => {}
  const { decisions } = metrics
  const seriesOf = (scheme: string, allowedFor: string) =>
    memoizeLast(
      memoize((code: ErrorCode | undefined) =>
        code === undefined
          ? decisions.labels(scheme, 'allowed', allowedFor)
          : decisions.labels(scheme, 'refused', code),
      ),
    )
  const series = {
    none: seriesOf('none', 'anonymous'),
    secretKey: seriesOf('secretKey', 'ok'),
    bearer: seriesOf('bearer', 'ok'),
    cookie: seriesOf('cookie', 'ok'),
  }
  return (scheme: DecisionScheme | undefined, code: ErrorCode | undefined) => {
    series[scheme ?? 'none'](code).value++
  }
}
