import type { Decision, DecisionScheme } from '#identity/decision.ts'
import type { Metrics } from '#ops/metrics/metrics.ts'
import type { ErrorCode } from '#platform/errors/codes.ts'
import { memoize } from '#platform/memoize.ts'

/** The steps of a decision about a request, in the order in which they are taken. */
export type DecisionStep = 'request' | 'cors' | 'route' | 'scheme' | 'principal' | 'policy' | 'limits'

/**
 * Told of each step that a request has passed; what the step found is in the outcome of the request. The gateway has
 * none, and the steps cost it nothing more than to see that; `explain` has one.
 */
export interface DecisionTrace {
  /** A step may be taken again, where a decision based on the cache is confirmed: the last time counts. */
  passed(step: DecisionStep): void
}

/** Tells a trace which of the steps that identify the caller a decision has passed. */
export function traceDecision(trace: DecisionTrace, decision: Decision): void {
  if (decision.kind === 'refused' && schemeCodes.has(decision.code)) return
  trace.passed('scheme')
  if (decision.kind === 'allowed') trace.passed('principal')
}

/** Refusals for the kind of the credentials, not for the caller. */
const schemeCodes: ReadonlySet<ErrorCode> = new Set([
  'credentials-missing',
  'credentials-ambiguous',
  'scheme-not-accepted',
])

/** Counts decisions by scheme, refusals also by code. */
type CountDecision = (scheme: DecisionScheme | undefined, code: ErrorCode | undefined) => void

/** @param metrics undefined = decisions are not counted */
export function createDecisionCounter(metrics: Pick<Metrics, 'decisions'> | undefined): CountDecision {
  if (!metrics) return () => {}
  const { decisions } = metrics
  const seriesOf = (scheme: string, allowedFor: string) =>
    memoize((code: ErrorCode | undefined) =>
      code === undefined
        ? decisions.labels(scheme, 'allowed', allowedFor)
        : decisions.labels(scheme, 'refused', code),
    )
  const series = {
    none: seriesOf('none', 'anonymous'),
    secretKey: seriesOf('secretKey', 'ok'),
    bearer: seriesOf('bearer', 'ok'),
    cookie: seriesOf('cookie', 'ok'),
  }
  return (scheme, code) => {
    series[scheme ?? 'none'](code).value++
  }
}
