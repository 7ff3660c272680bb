import type { DecisionScheme } from '#identity/decision.ts'
import type { Metrics } from '#ops/metrics/metrics.ts'
import type { ErrorCode } from '#platform/errors/codes.ts'
import { memoize } from '#platform/memoize.ts'

/** Counts decisions by scheme, refusals also by code. */
export type CountDecision = (scheme: DecisionScheme | undefined, code: ErrorCode | undefined) => void

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
