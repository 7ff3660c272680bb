import type { KeyUses } from '#accounts/key-uses.ts'
import type { Authenticator } from '#identity/authenticator.ts'
import { authorize, isFromAllowedAddress } from '#identity/authorize.ts'
import type { AllowedDecision, Decision, DecisionScheme, Refusal } from '#identity/decision.ts'
import { createLookUpGuard } from '#identity/limits/failures.ts'
import type { TakePlan } from '#identity/limits/plans.ts'
import type { RateLimiter } from '#identity/limits/rate-limiter.ts'
import type { Principal } from '#identity/principal.ts'
import type { Metrics } from '#ops/metrics/metrics.ts'
import { GatehouseError, sharedError } from '#platform/errors/gatehouse-error.ts'
import type { Rate } from '#store/rates.ts'
import type { CheckBasicKey } from '../browser/ambient-credentials.ts'
import { countedCode, createCredentialRefusal } from '../refusals/credential-refusal.ts'
import type { GatedRoute } from '../routes/route.ts'
import { type Arrival, credentialsOf } from '../server/arrival.ts'
import { createDecisionCounter, type DecisionTrace, traceDecision } from './decision-trace.ts'
import { recordDecision, recordRoute } from './outcome.ts'
import { createLimits } from './request-limits.ts'
import { type CredentialTakerOptions, createCredentialTaker } from './route-credentials.ts'

export interface GateOptions<MatchedRoute extends GatedRoute, Came extends Arrival<unknown> = Arrival>
  extends CredentialTakerOptions {
  /** The route of a request, or the error it is refused with. */
  readonly findRoute: (arrival: Came) => GateResult<MatchedRoute>
  readonly authenticator: Authenticator
  readonly limiter: RateLimiter
  /** Counts requests against the plans of accounts. */
  readonly takePlan: TakePlan
  /** How many invalid credentials one client address may send. */
  readonly failures: Rate
  /** undefined = decisions are not counted. */
  readonly metrics: Pick<Metrics, 'decisions'> | undefined
  /** Called for every valid secret key, even if the request is then refused with 403 or 429. */
  readonly keyUses: Pick<KeyUses, 'record'>
  readonly checkBasicKey: CheckBasicKey
  /** undefined in the gateway. */
  readonly trace?: DecisionTrace | undefined
}

/** The admitted route, or the error. */
export type GateResult<MatchedRoute extends GatedRoute> = MatchedRoute | GatehouseError

/**
 * Decides about a request before a byte of its body is read: its route, the caller, access, rate and quota. Synchronous if all
 * is cached. A refusal is returned, not thrown: a throw takes as long as all the rest, and functions that end with one
 * are never compiled.
 * @throws GatehouseError `store-unavailable`, synchronously or as a rejection, if it cannot be decided
 */
export type Gate<MatchedRoute extends GatedRoute, Came extends Arrival<unknown> = Arrival> = (
  arrival: Came,
) => GateResult<MatchedRoute> | Promise<GateResult<MatchedRoute>>

/** A gate, and the part of it that is left to do about a request that was decided about otherwise. */
export interface GateParts<MatchedRoute extends GatedRoute, Came extends Arrival<unknown> = Arrival> {
  readonly gate: Gate<MatchedRoute, Came>
  /** Counts the request against its rate and quota, the decision, and the use of its key; or what is refused. */
  settleDecided(
    route: MatchedRoute,
    arrival: Came,
    decision: Decision,
  ): GateResult<MatchedRoute> | Promise<GateResult<MatchedRoute>>
}

/** How long the use of a key is not recorded again for the same head from the same address. */
const keyUseIntervalMs = 1_000

/** A secret key that is not looked up. */
const unknownKey: Refusal = {
  kind: 'refused',
  code: countedCode,
  scheme: 'secretKey',
  isMalformed: true,
  holdsUntil: 0,
  reason: undefined,
}

export function createGate<MatchedRoute extends GatedRoute, Came extends Arrival<unknown> = Arrival>(
  options: GateOptions<MatchedRoute, Came>,
): Gate<MatchedRoute, Came> {
  return createGateParts(options).gate
}

export function createGateParts<MatchedRoute extends GatedRoute, Came extends Arrival<unknown> = Arrival>(
  options: GateOptions<MatchedRoute, Came>,
): GateParts<MatchedRoute, Came> {
  const { findRoute, authenticator, limiter, failures, metrics, keyUses } = options
  const { checkBasicKey, trace } = options
  const count = createDecisionCounter(metrics)
  const lookUps = createLookUpGuard(limiter, failures)
  const refuse = createCredentialRefusal(limiter, failures)
  const takeLimits = createLimits(options)
  const takeCredentials = createCredentialTaker(options)

  /** @param isConfirmed whether the decision is based on the store's current state, not on the cache */
  function admit(
    route: MatchedRoute,
    arrival: Came,
    decision: Decision,
    isConfirmed = false,
  ): GateResult<MatchedRoute> | Promise<GateResult<MatchedRoute>> {
    recordDecision(arrival.outcome, decision)
    if (trace) traceDecision(trace, decision)
    if (decision.kind === 'refused') return refuseAndCount(route, arrival, decision)
    const { principal } = decision
    const misplaced = principal && refuseFrom(principal, arrival)
    if (misplaced) return countRefusal(decision.scheme, misplaced)
    recordKeyUse(arrival, decision)
    const code = authorize(route.access, principal)
    if (code !== undefined && !isConfirmed) return admitConfirmed(route, arrival, decision)
    if (code !== undefined) return countRefusal(decision.scheme, sharedError(code))
    trace?.passed('policy')
    return takeAndSettle(route, arrival, decision)
  }

  function settleDecided(
    route: MatchedRoute,
    arrival: Came,
    decision: Decision,
  ): GateResult<MatchedRoute> | Promise<GateResult<MatchedRoute>> {
    if (decision.kind === 'refused') return refuseAndCount(route, arrival, decision)
    recordKeyUse(arrival, decision)
    return takeAndSettle(route, arrival, decision)
  }

  function takeAndSettle(
    route: MatchedRoute,
    arrival: Came,
    decision: AllowedDecision,
  ): GateResult<MatchedRoute> | Promise<GateResult<MatchedRoute>> {
    const excess = takeLimits(route.rateLimit, arrival, decision.principal)
    return excess instanceof Promise ? settleLater(route, decision, excess) : settle(route, decision, excess)
  }

  /** Why a valid credential is refused from where it came. */
  function refuseFrom(principal: Principal, arrival: Came): GatehouseError | undefined {
    return isFromAllowedAddress(principal, arrival.client.address)
      ? checkBasicKey(arrival)
      : sharedError('address-forbidden')
  }

  // In a function of its own: V8 allocates what a function within another captures whenever the other is called.
  async function settleLater(
    route: MatchedRoute,
    decision: AllowedDecision,
    excess: Promise<GatehouseError | undefined>,
  ): Promise<GateResult<MatchedRoute>> {
    return settle(route, decision, await excess)
  }

  function settle(
    route: MatchedRoute,
    { scheme }: AllowedDecision,
    excess: GatehouseError | undefined,
  ): GateResult<MatchedRoute> {
    if (excess) return countRefusal(scheme, excess)
    count(scheme, undefined)
    return route
  }

  function refuseAndCount(
    { access }: MatchedRoute,
    arrival: Came,
    decision: Refusal,
  ): GatehouseError | Promise<GatehouseError> {
    const error = refuse(decision, access, arrival)
    if (!(error instanceof Promise)) return countRefusal(decision.scheme, error)
    return error.then((settled) => countRefusal(decision.scheme, settled))
  }

  /** Counts a refusal by the code sent to the client. */
  function countRefusal(scheme: DecisionScheme | undefined, error: GatehouseError): GatehouseError {
    count(scheme, error.code)
    return error
  }

  /** A caller refused because of a cached record may have another role by now, or be verified. */
  async function admitConfirmed(
    route: MatchedRoute,
    arrival: Came,
    decision: Decision,
  ): Promise<GateResult<MatchedRoute>> {
    const isUpToDate = await authenticator.confirm().then(
      () => true,
      () => false,
    )
    const latest = isUpToDate
      ? await authenticator.decide(route.access, credentialsOf(arrival), performance.now())
      : decision
    return admit(route, arrival, latest, true)
  }

  /** A key that may be made up: from a network that has sent too many it is not looked up. */
  async function lookUp(route: MatchedRoute, arrival: Came): Promise<GateResult<MatchedRoute>> {
    const { address } = arrival.client
    if (!(await lookUps.admit(address))) return admit(route, arrival, unknownKey)
    try {
      return await decide(route, arrival, performance.now())
    } finally {
      lookUps.release(address)
    }
  }

  function decide(
    route: MatchedRoute,
    arrival: Came,
    now: number,
  ): GateResult<MatchedRoute> | Promise<GateResult<MatchedRoute>> {
    const decision = authenticator.decide(route.access, credentialsOf(arrival), now)
    return decision instanceof Promise
      ? admitLater(route, arrival, decision)
      : admit(route, arrival, decision)
  }

  async function admitLater(
    route: MatchedRoute,
    arrival: Came,
    decision: Promise<Decision>,
  ): Promise<GateResult<MatchedRoute>> {
    // What has to be looked up is of an accepted scheme, whatever is found.
    trace?.passed('scheme')
    return admit(route, arrival, await decision)
  }

  function recordKeyUse(arrival: Came, { principal }: AllowedDecision): void {
    const { client, arrivedAt } = arrival
    const credentials = credentialsOf(arrival)
    if (principal === undefined || credentials.kind !== 'secretKey') return
    if (credentials.useRecordedFrom === client.address && arrivedAt < credentials.useRecordedUntil) return
    credentials.useRecordedFrom = client.address
    credentials.useRecordedUntil = Math.floor(arrivedAt) + keyUseIntervalMs
    keyUses.record(principal.accountId, credentials.text, client.address, 'secretKey')
  }

  function gate(arrival: Came): GateResult<MatchedRoute> | Promise<GateResult<MatchedRoute>> {
    const route = findRoute(arrival)
    if (route instanceof GatehouseError) return route
    recordRoute(arrival.outcome, route)
    trace?.passed('route')
    if (route.browser !== undefined || route.access.leavesAuthorization) {
      const misplaced = takeCredentials(route, arrival)
      if (misplaced) return countRefusal(undefined, misplaced)
    }
    if (route.access.kind !== 'public' && authenticator.mustLookUp?.(credentialsOf(arrival)) === true)
      return lookUp(route, arrival)
    return decide(route, arrival, arrival.arrivedAt)
  }

  return { gate, settleDecided }
}
