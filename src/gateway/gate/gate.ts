import type { SchemeName } from '#identity/access.ts'
import type { Authenticator } from '#identity/authenticator.ts'
import { authorize, isFromAllowedAddress } from '#identity/authorize.ts'
import {
  type AllowedDecision,
  type Decision,
  type Principal,
  type Refusal,
  refusedCredential,
} from '#identity/decision.ts'
import { createLookUpGuard } from '#identity/limits/look-up-guard.ts'
import type { ErrorCode } from '#platform/errors/codes.ts'
import { GatehouseError, sharedError, throwUnlessStoreUnavailable } from '#platform/errors/gatehouse-error.ts'
import { type MonotonicMs, monotonicClock } from '#platform/time.ts'
import { type Arrival, credentialsOf, type GatedArrival } from '../arrival/arrival.ts'
import { recordDecision, recordRoute } from '../arrival/outcome.ts'
import type { CheckAmbientKey } from '../browser/ambient-credentials.ts'
import { countedCode } from '../refusals/credential-refusal.ts'
import type { GatedRoute } from '../routes/route.ts'
import { createDecisionEffects, type DecisionEffectsOptions } from './decision-effects.ts'
import type { EventualResult, GateResult, StepListener } from './gate-result.ts'
import type { CheckPossession } from './possession.ts'
import { type CredentialTakerOptions, createCredentialTaker } from './route-credentials.ts'

export interface GateOptions<MatchedRoute extends GatedRoute, Incoming extends GatedArrival = Arrival>
  extends CredentialTakerOptions,
    DecisionEffectsOptions {
  /** The route of a request, or the error it is refused with. */
  readonly findRoute: (arrival: Incoming) => GateResult<MatchedRoute>
  /** `lookUpKindOf` is absent only where look-ups are not limited: in `explain`. */
  readonly authenticator: Pick<Authenticator, 'decide' | 'confirm'> &
    Partial<Pick<Authenticator, 'lookUpKindOf'>>
  readonly checkAmbientKey: CheckAmbientKey
  readonly checkPossession: CheckPossession
  /** Only `explain` passes one. */
  readonly steps?: StepListener | undefined
}

/**
 * Decides about a request before a byte of its body is read: its route, the caller, access, rate and quota. Synchronous
 * if all is cached. A refusal is returned, not thrown, as refusals are frequent.
 * @throws GatehouseError `store-unavailable`, synchronously or as a rejection, if it cannot be decided
 */
export type Gate<MatchedRoute extends GatedRoute, Incoming extends GatedArrival = Arrival> = (
  arrival: Incoming,
) => EventualResult<MatchedRoute>

/** A secret key or token that is not looked up is refused like one that cannot be valid. */
const notLookedUp = { isMalformed: true, isCounted: true }
const unknownKey: Refusal = { ...refusedCredential(countedCode, notLookedUp), scheme: 'secretKey' }
const unknownToken: Refusal = { ...refusedCredential('token-invalid', notLookedUp), scheme: 'bearer' }
const unansweredToken: Refusal = {
  ...unknownToken,
  code: 'issuer-unavailable',
  isCounted: false,
  reason: 'too many tokens from this client address are waiting for their issuer, or got no answer',
}

export function createGate<MatchedRoute extends GatedRoute, Incoming extends GatedArrival = Arrival>(
  options: GateOptions<MatchedRoute, Incoming>,
  effects = createDecisionEffects(options),
): Gate<MatchedRoute, Incoming> {
  const { findRoute, authenticator, limiter, failures, checkAmbientKey, checkPossession, steps } = options
  const lookUps = createLookUpGuard(limiter, failures)
  const takeCredentials = createCredentialTaker(options)

  function gate(arrival: Incoming): EventualResult<MatchedRoute> {
    const route = findRoute(arrival)
    if (route instanceof GatehouseError) return route
    recordRoute(arrival.outcome, route)
    steps?.passed('route')
    if (route.browser !== undefined || route.access.leavesAuthorization || arrival.carriers.certificate) {
      const misplaced = takeCredentials(route, arrival)
      if (misplaced) return effects.countRefusal(undefined, misplaced)
    }
    const lookUpKind =
      route.access.kind === 'public'
        ? undefined
        : authenticator.lookUpKindOf?.(route.access, credentialsOf(arrival))
    return lookUpKind === undefined
      ? decide(route, arrival, arrival.arrivedAt)
      : lookUp(route, arrival, lookUpKind)
  }

  /** Looks up a key or token that may be invented, unless its network has sent too many invalid ones. */
  async function lookUp(
    route: MatchedRoute,
    arrival: Incoming,
    kind: SchemeName,
  ): Promise<GateResult<MatchedRoute>> {
    const { address } = arrival.client
    const admission = await lookUps.admit(address, kind)
    if (admission === 'not-now') return admit(route, arrival, unansweredToken)
    if (!admission) return admit(route, arrival, kind === 'bearer' ? unknownToken : unknownKey)
    try {
      return await decide(route, arrival, monotonicClock())
    } finally {
      const { decision } = arrival.outcome
      lookUps.release(address, decision?.kind === 'refused' && decision.code === 'issuer-unavailable')
    }
  }

  function decide(route: MatchedRoute, arrival: Incoming, now: MonotonicMs): EventualResult<MatchedRoute> {
    const decision = authenticator.decide(route.access, credentialsOf(arrival), now)
    if (!(decision instanceof Promise)) return admit(route, arrival, decision)
    // A credential that has to be looked up is of an accepted scheme, whatever the result.
    steps?.passed('scheme')
    return decision.then(admit.bind(undefined, route, arrival))
  }

  function admit(route: MatchedRoute, arrival: Incoming, decision: Decision): EventualResult<MatchedRoute> {
    recordDecision(arrival.outcome, decision)
    if (decision.kind === 'refused' || decision.confirmation === undefined)
      return applyDecision(route, arrival, decision, false)
    steps?.passed('scheme')
    const unproven = checkPossession(arrival, decision)
    return unproven instanceof Promise
      ? unproven.then(admitProven.bind(undefined, route, arrival, decision))
      : admitProven(route, arrival, decision, unproven)
  }

  function admitProven(
    route: MatchedRoute,
    arrival: Incoming,
    decision: AllowedDecision,
    unproven: GatehouseError | undefined,
  ): EventualResult<MatchedRoute> {
    if (unproven) return effects.countRefusal(decision.scheme, unproven)
    return applyDecision(route, arrival, decision, false)
  }

  /** @param isConfirmed whether the store has already been asked about what the cache says */
  function applyDecision(
    route: MatchedRoute,
    arrival: Incoming,
    decision: Decision,
    isConfirmed: boolean,
  ): EventualResult<MatchedRoute> {
    if (steps) tellDecision(steps, decision)
    if (decision.kind === 'refused') return effects.countRefusedCredential(route, arrival, decision)
    const { principal, scheme } = decision
    const refusal = principal && addressRefusal(principal, arrival)
    if (refusal) return effects.countRefusal(scheme, refusal)
    effects.recordKeyUse(arrival, decision)
    const code = authorize(route.access, principal)
    if (code !== undefined && !isConfirmed) return admitConfirmed(route, arrival, decision)
    if (code !== undefined) return effects.countRefusal(scheme, sharedError(code))
    steps?.passed('policy')
    return effects.takeLimits(route, arrival, decision)
  }

  /** Why a valid credential is refused: it must not come from this address, or from this page. */
  function addressRefusal(principal: Principal, arrival: Incoming): GatehouseError | undefined {
    return isFromAllowedAddress(principal, arrival.client.address)
      ? checkAmbientKey(arrival)
      : sharedError('address-forbidden')
  }

  /**
   * A caller who is refused because of a cached record may have got another role or been verified since. If the store
   * cannot be asked, the refusal stands. A proof is not checked again: it would count as replayed.
   */
  async function admitConfirmed(
    route: MatchedRoute,
    arrival: Incoming,
    decision: Decision,
  ): Promise<GateResult<MatchedRoute>> {
    const isUpToDate = await authenticator.confirm().then(
      () => true,
      (error: unknown) => {
        throwUnlessStoreUnavailable(error)
        return false
      },
    )
    const latest = isUpToDate
      ? await authenticator.decide(route.access, credentialsOf(arrival), monotonicClock())
      : decision
    recordDecision(arrival.outcome, latest)
    return applyDecision(route, arrival, latest, true)
  }

  return gate
}

/** Tells which of the steps that identify the caller a decision has passed. */
function tellDecision(steps: StepListener, decision: Decision): void {
  if (decision.kind === 'refused' && schemeCodes.has(decision.code)) return
  steps.passed('scheme')
  if (decision.kind === 'allowed') steps.passed('principal')
}

/** Codes that reject the kind of credential, before the caller is known. */
const schemeCodes: ReadonlySet<ErrorCode> = new Set([
  'credentials-missing',
  'credentials-ambiguous',
  'scheme-not-accepted',
])
