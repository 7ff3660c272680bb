import type { Code } from '../errors.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { once } from '../metrics/once.ts'
import type { SchemeName } from '../routes/route.ts'

/** Counts decisions: by scheme, and refusals by their code. */
export type CountDecision = (scheme: SchemeName | undefined, code: Code | undefined) => void

export function createDecisionCounts({ decisions }: Metrics): CountDecision {
  const seriesOf = (scheme: string, allowedFor: string) =>
    once((code: Code | undefined) =>
      code === undefined
        ? decisions.of(scheme, 'allowed', allowedFor)
        : decisions.of(scheme, 'refused', code),
    )
  const series = {
    none: seriesOf('none', 'anonymous'),
    secretKey: seriesOf('secretKey', 'ok'),
    bearer: seriesOf('bearer', 'ok'),
  }
  return (scheme, code) => {
    series[scheme ?? 'none'](code).value++
  }
}
