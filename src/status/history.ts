import type { MetricsSnapshot } from '../metrics/metrics.ts'
import { type MetricsReading, type Quantiles, readMetrics } from './read-metrics.ts'

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

/** Figures of the last hour, kept in memory: they survive a reload of the page, or of the config. */
export interface History {
  /** To be called with each snapshot: takes a sample if one is due. */
  add(at: number, snapshot: MetricsSnapshot): void
  /** The earliest sample of the last minute; undefined = there is none before `now`. */
  oldestRecentSample(now: number): Sample | undefined
  /** Oldest first; at most `historyMs / sampleMs` of them. */
  points(now: number): readonly Point[]
}

export interface Sample {
  readonly at: number
  readonly snapshot: MetricsSnapshot
}

export const sampleMs = 15_000
export const historyMs = 3_600_000
/** How far back `oldestRecentSample` goes: whole snapshots are kept only for that long. */
const recentMs = 60_000

interface TimedPoint {
  readonly endedAt: number
  readonly point: Point
}

export function createHistory(): History {
  let samples: readonly Sample[] = []
  let timed: readonly TimedPoint[] = []

  return {
    add: (at, snapshot) => {
      const last = samples.at(-1)
      // The clock was set back: samples in the future are dropped.
      const clockWentBack = last !== undefined && last.at > at
      if (last && !clockWentBack && at - last.at < sampleMs) return
      if (last && !clockWentBack) timed = [...timed, { endedAt: at, point: pointOf(last, { at, snapshot }) }]
      timed = timed.filter(({ endedAt }) => endedAt <= at && at - endedAt < historyMs)
      const kept = samples.filter((sample) => sample.at <= at && at - sample.at <= recentMs)
      samples = [...kept, { at, snapshot }]
    },
    oldestRecentSample: (now) => samples.find(({ at }) => at < now && now - at <= recentMs),
    points: (now) =>
      timed.filter(({ endedAt }) => endedAt <= now && now - endedAt < historyMs).map(({ point }) => point),
  }
}

function pointOf(before: Sample, { at, snapshot }: Sample): Point {
  const reading = readMetrics(snapshot, before.snapshot)
  return {
    at: new Date(at).toISOString(),
    seconds: (at - before.at) / 1_000,
    requests: reading.sum('gatehouse_http_requests_total'),
    failed: reading.sum('gatehouse_http_requests_total', {}, ({ code = '' }) => code.startsWith('5')),
    refusals: refusalsOf(reading),
    latencyMs: reading.quantiles('gatehouse_http_request_duration_seconds') ?? null,
    overheadMs: reading.quantiles('gatehouse_overhead_duration_seconds') ?? null,
  }
}

function refusalsOf(reading: MetricsReading): Point['refusals'] {
  const decisions = 'gatehouse_auth_decisions_total'
  const refused = { outcome: 'refused' }
  const counts = reading
    .labelValues(decisions, 'reason', refused)
    .map((reason) => [reason, reading.sum(decisions, { ...refused, reason })] as const)
  return Object.fromEntries(counts.filter(([, count]) => count > 0))
}
