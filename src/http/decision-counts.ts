import type { Code } from '../errors.ts'
import type { Count } from '../metrics/counter.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { SchemeName } from '../routes/route.ts'

/** Counts what was decided: by scheme, and by the code of whatever was refused. */
export type CountDecision = (scheme: SchemeName | undefined, code: Code | undefined) => void

export function createDecisionCounts(metrics: Metrics): CountDecision {
  const counts = {
    none: countsOf(metrics, 'none', 'anonymous'),
    secretKey: countsOf(metrics, 'secretKey', 'ok'),
    bearer: countsOf(metrics, 'bearer', 'ok'),
  }
  return (scheme, code) => {
    const ofScheme = counts[scheme ?? 'none']
    const count = code === undefined ? ofScheme.allowed() : ofScheme.refused(code)
    count.value++
  }
}

/** The series of one scheme, each found once, when it is first counted in. */
function countsOf(metrics: Metrics, scheme: string, reason: string) {
  let allowed: Count | undefined
  const refused = new Map<Code, Count>()
  return {
    allowed: (): Count => {
      allowed ??= metrics.decisions.of(scheme, 'allowed', reason)
      return allowed
    },
    refused: (code: Code): Count => {
      const known = refused.get(code)
      if (known) return known
      const count = metrics.decisions.of(scheme, 'refused', code)
      refused.set(code, count)
      return count
    },
  }
}
