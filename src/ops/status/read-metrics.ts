import { memoize } from '#platform/memoize.ts'
import { countsByBound, unpackHistogram } from '../metrics/histogram.ts'
import type { PackedSnapshot } from '../metrics/metrics.ts'

/** Label values of prom-client may be numbers. */
type Labels = Readonly<Record<string, string | number>>
type AskedLabels = Readonly<Record<string, string>>
type Metric = PackedSnapshot[number]

/** The values of the metrics, or their increase since an earlier snapshot. */
export interface MetricsReading {
  /** The sum of the series with these labels that pass; 0 if there is none. */
  sum(name: string, labels?: AskedLabels, passes?: (labels: Labels) => boolean): number
  labelValues(name: string, label: string, labels?: AskedLabels): readonly string[]
  /** The buckets of a histogram, summed over all its series with these labels. */
  buckets(name: string, labels?: AskedLabels): Buckets
  /** undefined if nothing was observed. */
  quantiles(name: string, labels?: AskedLabels): Quantiles | undefined
  /**
   * Splits the reading by the values of a label: filtering all series again for each of thousands of routes takes a
   * minute.
   */
  by(label: string): (value: string) => MetricsReading
}

/** @param since counters and histograms show their increase since then; gauges their current values */
export function readMetrics(now: PackedSnapshot, since: PackedSnapshot = []): MetricsReading {
  const current = new Map(now.map((metric) => [metric.name, metric]))
  const before = new Map(
    since.filter(({ type }) => String(type) !== 'gauge').map((metric) => [metric.name, metric]),
  )
  // Only on demand, as a histogram has seventeen samples for each route.
  const samplesOfMetric = memoize((name: string) => {
    const metric = current.get(name)
    const earlier = before.get(name)
    const samples = metric === undefined ? [] : samplesOf(metric)
    return earlier === undefined ? samples : increasesOf(samples, samplesOf(earlier))
  })
  return readingOf(samplesOfMetric, (name) => {
    const metric = before.has(name) ? undefined : current.get(name)
    return metric !== undefined && 'rows' in metric ? countsByBound(metric) : undefined
  })
}

/**
 * @param samplesOfMetric empty if there is no such metric
 * @param wholeOf a histogram that needs no samples; undefined = it needs them
 */
function readingOf(
  samplesOfMetric: (metric: string) => readonly MetricSample[],
  wholeOf: (histogram: string) => Buckets | undefined,
): MetricsReading {
  function find(name: string, labels: AskedLabels): readonly MetricSample[] {
    const own = samplesOfMetric(name)
    // The series of a histogram are stored under its own name.
    const whole = own.length > 0 ? own : samplesOfMetric(name.replace(/_(?:bucket|count|sum)$/, ''))
    const asked = Object.entries(labels)
    return whole.filter(
      (series) =>
        series.name === name && asked.every(([label, value]) => String(series.labels[label]) === value),
    )
  }

  function sum(
    name: string,
    labels: AskedLabels = {},
    passes: (labels: Labels) => boolean = () => true,
  ): number {
    return find(name, labels).reduce(
      (total, series) => (passes(series.labels) ? total + series.value : total),
      0,
    )
  }

  function buckets(name: string, labels?: AskedLabels): Buckets {
    return (labels === undefined ? wholeOf(name) : undefined) ?? bucketsOfSamples(name, labels)
  }

  function bucketsOfSamples(name: string, labels: AskedLabels = {}): Buckets {
    const found = new Map<number, number>()
    for (const { labels: own, value } of find(`${name}_bucket`, labels)) {
      const bound = own.le === '+Inf' ? Number.POSITIVE_INFINITY : Number(own.le)
      found.set(bound, (found.get(bound) ?? 0) + value)
    }
    return found
  }

  function by(label: string): (value: string) => MetricsReading {
    const groups = memoize((metric: string) =>
      Map.groupBy(samplesOfMetric(metric), ({ labels }) => String(labels[label])),
    )
    return (value) =>
      readingOf(
        (metric) => groups(metric).get(value) ?? [],
        () => undefined,
      )
  }

  return {
    sum,
    buckets,
    by,
    quantiles: (name, labels) => quantilesOf(buckets(name, labels)),
    labelValues: (name, label, labels = {}) => [
      ...new Set(find(name, labels).flatMap(({ labels }) => (label in labels ? String(labels[label]) : []))),
    ],
  }
}

interface MetricSample {
  readonly name: string
  readonly labels: Labels
  /** The current value, or its increase. */
  readonly value: number
}

/** The samples with their increases; never below 0, as a worker that died may have counted more than it reported. */
function increasesOf(
  samples: readonly MetricSample[],
  before: readonly MetricSample[],
): readonly MetricSample[] {
  const earlierValueOf = createLookUp(before)
  return samples.map((sample, place) => {
    const { name, labels, value } = sample
    return { name, labels, value: Math.max(0, value - earlierValueOf(sample, place)) }
  })
}

function samplesOf(metric: Metric): readonly MetricSample[] {
  const { values }: { readonly values: readonly object[] } =
    'rows' in metric ? unpackHistogram(metric) : metric
  return values.map((sample) => {
    // The cast is sound: samples of a histogram name the bucket, sum or count that they belong to, and samples without
    // labels have no such member, whatever the library's types say.
    const {
      metricName: name = metric.name,
      labels = {},
      value,
    } = sample as Omit<MetricSample, 'labels'> & {
      readonly metricName?: string
      readonly labels?: Labels
    }
    return { name, labels, value }
  })
}

/** Finds the value of a series in samples, first at its own index, as series mostly keep their order. */
function createLookUp(samples: readonly MetricSample[]): (of: MetricSample, place: number) => number {
  let byKey: ReadonlyMap<string, number> | undefined
  return (of, place) => {
    const there = samples[place]
    if (there !== undefined && isSameSeries(there, of)) return there.value
    byKey ??= new Map(samples.map((sample) => [keyOf(sample), sample.value]))
    return byKey.get(keyOf(of)) ?? 0
  }
}

function isSameSeries(a: MetricSample, b: MetricSample): boolean {
  const labels = Object.keys(a.labels)
  return (
    a.name === b.name &&
    labels.length === Object.keys(b.labels).length &&
    labels.every((label) => a.labels[label] === b.labels[label])
  )
}

/** Its name and labels, whatever their order. */
function keyOf({ name, labels }: MetricSample): string {
  let key = name
  for (const label of Object.keys(labels).toSorted()) key += `\n${label}\n${labels[label]}`
  return key
}

/** Quantiles in milliseconds, as exact as the buckets permit. */
export interface Quantiles {
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

/** How many values were observed up to each bound, in seconds; the last bound is Infinity. */
export type Buckets = ReadonlyMap<number, number>

/** undefined where nothing was observed. */
export function quantilesOf(buckets: Buckets): Quantiles | undefined {
  const sorted = [...buckets].toSorted(([a], [b]) => a - b)
  if ((sorted.at(-1)?.[1] ?? 0) === 0) return undefined
  const at = (share: number) => Math.round(quantile(sorted, share) * 1e5) / 100
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}

/** In seconds; interpolated linearly within a bucket; above the last bound, that bound, as in Prometheus. */
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
