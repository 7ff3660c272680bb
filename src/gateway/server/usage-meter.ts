import type { UsedRoute } from '#accounts/usage/counts.ts'
import type { UsageRecorder } from '#accounts/usage/recorder.ts'
import type { Principal } from '#identity/decision.ts'
import type { ChargeQuotas } from '#identity/limits/plans.ts'
import { type MonotonicMs, monotonicClock } from '#platform/time.ts'

/** Counts what accounts, and principals of foreign issuers, use of routes. */
export interface UsageMeter {
  /**
   * Called when a request is forwarded: it counts whatever becomes of it.
   * @param now when it arrived
   */
  onForwarded(route: MeteredRoute, caller: Principal, now: MonotonicMs): void
  /**
   * Called on a route whose responses say how many units a request is, as soon as they are known: from the head, or at
   * the end of the response.
   */
  onUnits(route: MeteredRoute, caller: Principal, units: number): void
  /** Called when a request is allowed and another proxy forwards it: one unit, as its response is not seen. */
  onDecided(route: MeteredRoute, caller: Principal, now: MonotonicMs): void
}

/** What counting usage needs of a route. */
interface MeteredRoute extends UsedRoute {
  /** Whether responses say how many units a request is; if not, each is one. */
  readonly saysCost: boolean
  /** Whether quotas count these units too; absent = no. */
  readonly spendsUnits?: boolean
}

const requestOfOneUnit = { requests: 1, units: 1 }
const requestOfUnknownUnits = { requests: 1, units: 0 }

/** @param chargeQuotas undefined = no route spends units */
export function createUsageMeter(
  recorder: Pick<UsageRecorder, 'count'>,
  chargeQuotas?: ChargeQuotas,
): UsageMeter {
  return {
    onForwarded: (route, caller, now) =>
      recorder.count(route, caller, route.saysCost ? requestOfUnknownUnits : requestOfOneUnit, now),
    onDecided: (route, caller, now) => recorder.count(route, caller, requestOfOneUnit, now),
    onUnits: (route, caller, units) => {
      recorder.count(route, caller, { requests: 0, units }, monotonicClock())
      if (route.spendsUnits) chargeQuotas?.(caller, units)
    },
  }
}
