import type { LookUpResult } from '../cache/loading-cache.ts'
import type { Metrics } from './metrics.ts'

/** The series of each result, looked up once. */
export function createLookUpCounter({ keyCache }: Metrics): (result: LookUpResult) => void {
  const counts = {
    hit: keyCache.labels('hit'),
    negative_hit: keyCache.labels('negative_hit'),
    miss: keyCache.labels('miss'),
    stale: keyCache.labels('stale'),
  }
  return (result) => {
    counts[result].value++
  }
}
