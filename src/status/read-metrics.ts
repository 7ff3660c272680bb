import type { MetricsSnapshot } from '../metrics/metrics.ts'

type Labels = Readonly<Record<string, string>>

/** Quantiles in milliseconds, as exact as the buckets allow. */
export interface Quantiles {
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

/** The values of the metrics, or their increase since an earlier snapshot. */
export interface MetricsReading {
  /** Sum of the series that have these labels and pass; 0 where there is none. */
  sum(name: string, labels?: Labels, passes?: (labels: Labels) => boolean): number
  /** The values of a label. */
  labelValues(name: string, label: string, labels?: Labels): readonly string[]
  /** undefined where nothing was observed. */
  quantiles(name: string, labels?: Labels): Quantiles | undefined
}

/** @param since counters and histograms show their increase since then; gauges their current values */
export function readMetrics(now: MetricsSnapshot, since: MetricsSnapshot = []): MetricsReading {
  const byName = new Map(now.map((metric) => [metric.name, seriesOf(metric)]))
  const before = new Map(
    since
      .filter(({ type }) => String(type) !== 'gauge')
      .map((metric) => [metric.name, new Map(seriesOf(metric).map(({ key, value }) => [key, value]))]),
  )

  function find(name: string, labels: Labels): readonly Series[] {
    // The series of a histogram are stored under its own name.
    const whole = byName.get(name) ?? byName.get(name.replace(/_(?:bucket|count|sum)$/, '')) ?? []
    return whole.filter(
      (series) =>
        series.name === name &&
        Object.entries(labels).every(([label, value]) => series.labels[label] === value),
    )
  }

  /** Never below 0: a worker that died may have counted more than it reported. */
  function amountOf({ metric, key, value }: Series): number {
    return Math.max(0, value - (before.get(metric)?.get(key) ?? 0))
  }

  function sum(name: string, labels: Labels = {}, passes: (labels: Labels) => boolean = () => true): number {
    return find(name, labels).reduce(
      (total, series) => (passes(series.labels) ? total + amountOf(series) : total),
      0,
    )
  }

  function quantiles(name: string, labels: Labels = {}): Quantiles | undefined {
    const byBound = new Map<number, number>()
    for (const series of find(`${name}_bucket`, labels)) {
      const bound = series.labels.le === '+Inf' ? Number.POSITIVE_INFINITY : Number(series.labels.le)
      byBound.set(bound, (byBound.get(bound) ?? 0) + amountOf(series))
    }
    const buckets = [...byBound].toSorted(([a], [b]) => a - b)
    if ((buckets.at(-1)?.[1] ?? 0) === 0) return undefined
    const at = (share: number) => Math.round(quantile(buckets, share) * 1e5) / 100
    return { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
  }

  return {
    sum,
    quantiles,
    labelValues: (name, label, labels = {}) => [
      ...new Set(find(name, labels).flatMap(({ labels }) => labels[label] ?? [])),
    ],
  }
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

interface Series {
  readonly metric: string
  readonly name: string
  readonly labels: Labels
  /** Its name and labels. */
  readonly key: string
  readonly value: number
}

function seriesOf({ name: metric, values }: MetricsSnapshot[number]): readonly Series[] {
  return values.map((sample) => {
    // The cast is sound: samples of a histogram name the bucket, sum or count that they belong to, and samples without
    // labels have no such member, whatever the library's types say.
    const { metricName: name = metric, labels: given = {} } = sample as {
      readonly metricName?: string
      readonly labels?: Labels
    }
    const labels = Object.fromEntries(Object.entries(given).map(([label, value]) => [label, String(value)]))
    const key = `${name} ${JSON.stringify(Object.entries(labels).toSorted())}`
    return { metric, name, labels, key, value: sample.value }
  })
}
