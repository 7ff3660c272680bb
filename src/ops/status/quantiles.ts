/** Quantiles in milliseconds, as exact as the buckets allow. */
export interface Quantiles {
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

/** How many were observed up to each bound, in seconds; the last bound is Infinity. */
export type Buckets = ReadonlyMap<number, number>

/** undefined where nothing was observed. */
export function quantilesOf(buckets: Buckets): Quantiles | undefined {
  const sorted = [...buckets].toSorted(([a], [b]) => a - b)
  if ((sorted.at(-1)?.[1] ?? 0) === 0) return undefined
  const at = (share: number) => Math.round(quantile(sorted, share) * 1e5) / 100
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}

/** In seconds; interpolated linearly within a bucket, and above the last bound that bound, as in Prometheus. */
function quantile(buckets: readonly (readonly [bound: number, count: number])[], share: number): number {
  const rank = share * (buckets.at(-1)?.[1] ?? 0)
  let lower = 0
  let below = 0
  for (const [bound, count] of buckets) {
    if (bound === Number.POSITIVE_INFINITY) return lower
    if (count >= rank && count > below) return lower + (bound - lower) * ((rank - below) / (count - below))
    lower = bound
    below = count
  }
  return lower
}

/** What was observed since earlier. */
export function increaseOf(buckets: Buckets, before: Buckets): Buckets {
  return new Map([...buckets].map(([bound, count]) => [bound, Math.max(0, count - (before.get(bound) ?? 0))]))
}
