import { metricNames } from '../metrics/metric-names.ts'
import type { PackedSnapshot } from '../metrics/metrics.ts'
import { refused } from './figures.ts'
import {
  type Buckets,
  increaseOf,
  type MetricsReading,
  type Quantiles,
  quantilesOf,
  readMetrics,
} from './read-metrics.ts'

/** The traffic between two samples. */
export interface Point {
  /** Its end, ISO 8601. */
  readonly at: string
  readonly seconds: number
  readonly requests: number
  /** Answered 5xx. */
  readonly failed: number
  /** How many callers were refused, by the code of the error. */
  readonly refusals: Readonly<Record<string, number>>
  readonly latencyMs: Quantiles | null
  /** Gateway overhead of proxied requests. */
  readonly overheadMs: Quantiles | null
}

export interface TimedSnapshot {
  readonly at: number
  readonly snapshot: PackedSnapshot
}

export const sampleMs = 15_000
export const historyMs = 3_600_000
/** How far back `oldestRecentSample` goes: whole snapshots are kept only for that long. */
const recentMs = 60_000

/**
 * The counts up to a sample, of all routes together, as comparing whole snapshots takes long with thousands of routes.
 */
interface Totals {
  readonly at: number
  readonly requests: number
  readonly failed: number
  readonly refusals: ReadonlyMap<string, number>
  readonly latency: Buckets
  readonly overhead: Buckets
}

interface TimedPoint {
  readonly endedAt: number
  readonly point: Point
}

/** Figures of the last hour, kept in memory: they survive a reload of the page or of the config. */
export function createHistory() {
  let last: Totals | undefined
  let samples: readonly TimedSnapshot[] = []
  let timed: readonly TimedPoint[] = []

  return {
    /** To be called with each snapshot, of which it takes a sample if one is due. */
    add: (at: number, snapshot: PackedSnapshot): void => {
      // The clock was set back: samples in the future are dropped.
      const before = last !== undefined && last.at <= at ? last : undefined
      if (before && at - before.at < sampleMs) return
      last = totalsOf(at, readMetrics(snapshot))
      if (before) timed = [...timed, { endedAt: at, point: pointOf(before, last) }]
      timed = timed.filter(({ endedAt }) => endedAt <= at && at - endedAt < historyMs)
      const kept = samples.filter((sample) => sample.at <= at && at - sample.at <= recentMs)
      samples = [...kept, { at, snapshot }]
    },
    /** The earliest sample of the last minute; undefined = there is none before `now`. */
    oldestRecentSample: (now: number): TimedSnapshot | undefined =>
      samples.find(({ at }) => at < now && now - at <= recentMs),
    /** Oldest first; at most `historyMs / sampleMs` of them. */
    points: (now: number): readonly Point[] =>
      timed.filter(({ endedAt }) => endedAt <= now && now - endedAt < historyMs).map(({ point }) => point),
  }
}

function totalsOf(at: number, reading: MetricsReading): Totals {
  return {
    at,
    requests: reading.sum(metricNames.requests),
    failed: reading.sum(metricNames.requests, {}, ({ code = '' }) => String(code).startsWith('5')),
    refusals: new Map(
      reading
        .labelValues(metricNames.decisions, 'reason', refused)
        .map((reason) => [reason, reading.sum(metricNames.decisions, { ...refused, reason })]),
    ),
    latency: reading.buckets(metricNames.requestDuration),
    overhead: reading.buckets(metricNames.overhead),
  }
}

function pointOf(before: Totals, now: Totals): Point {
  const refusals = [...now.refusals].map(
    ([reason, count]) => [reason, count - (before.refusals.get(reason) ?? 0)] as const,
  )
  return {
    at: new Date(now.at).toISOString(),
    seconds: (now.at - before.at) / 1_000,
    // Never below 0, as a worker that died may have counted more than it reported.
    requests: Math.max(0, now.requests - before.requests),
    failed: Math.max(0, now.failed - before.failed),
    refusals: Object.fromEntries(refusals.filter(([, count]) => count > 0)),
    latencyMs: quantilesOf(increaseOf(now.latency, before.latency)) ?? null,
    overheadMs: quantilesOf(increaseOf(now.overhead, before.overhead)) ?? null,
  }
}
