import type { LookUp } from '../cache/loading-cache.ts'
import type { Metrics } from './metrics.ts'

/** The series of each result, looked up once. */
export function createLookUpCount({ keyCache }: Metrics): (result: LookUp) => void {
  const counts = {
    hit: keyCache.of('hit'),
    negative_hit: keyCache.of('negative_hit'),
    miss: keyCache.of('miss'),
    stale: keyCache.of('stale'),
  }
  return (result) => {
    counts[result].value++
  }
}
