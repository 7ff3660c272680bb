import type { PackedSnapshot } from '../metrics/metrics.ts'
import {
  type Buckets,
  increaseOf,
  type MetricsReading,
  type Quantiles,
  quantilesOf,
  readMetrics,
} from './read-metrics.ts'

/** Figures of a set of requests. */
interface RequestFigures {
  readonly requests: number
  /** Answered 401, 403 or 429, by the gateway or an upstream. */
  readonly refused: number
  /** Answered with another 4xx. */
  readonly clientErrors: number
  /** Answered 5xx. */
  readonly failed: number
  /** From request head to end of response; null where there were no requests. */
  readonly latencyMs: Quantiles | null
}

/** The figures of a period, for the main listener and the one for other proxies together. */
export interface Figures extends RequestFigures {
  /** The number of requests by HTTP version: 1.0, 1.1 and 2. */
  readonly versions: Readonly<Record<string, number>>
  /** For the listener for other proxies only; null if it has not been asked since the start. */
  readonly decide: RequestFigures | null
  /** Gateway overhead of proxied requests. */
  readonly overheadMs: Quantiles | null
  readonly routes: readonly (RequestFigures & { readonly name: string })[]
  /** Why callers were refused: error codes, the most frequent first. */
  readonly refusals: readonly { readonly scheme: string; readonly code: string; readonly count: number }[]
  readonly rateLimited: number
  readonly tokensIssued: number
  readonly upstreams: readonly {
    readonly name: string
    readonly requests: number
    readonly latencyMs: Quantiles | null
  }[]
  /** Lookups in the account cache. */
  readonly cache: {
    readonly hits: number
    readonly negativeHits: number
    readonly misses: number
    readonly stale: number
    /** The share of look-ups that did not read the store, from 0 to 1; null if there were none. */
    readonly hitRatio: number | null
  }
  /** From a change in the store to its effect. */
  readonly revocationDelayMs: Quantiles | null
}

const requests = 'gatehouse_http_requests_total'
const byVersion = 'gatehouse_http_requests_by_version_total'
const duration = 'gatehouse_http_request_duration_seconds'
const overhead = 'gatehouse_overhead_duration_seconds'
const upstreamDuration = 'gatehouse_upstream_request_duration_seconds'
const decisions = 'gatehouse_auth_decisions_total'
const decideListener = { listener: 'decide' } as const
const refused = { outcome: 'refused' } as const
const refusedStatuses = new Set(['401', '403', '429'])

/** The names in the config of everything that has figures of its own. */
export interface FigureNames {
  readonly routes: readonly { readonly name: string }[]
  readonly upstreams: readonly { readonly name: string }[]
}

export function figuresOf(reading: MetricsReading, { routes, upstreams }: FigureNames): Figures {
  const ofRoute = reading.by('route')
  const names = new Set([...routes.map(({ name }) => name), ...reading.labelValues(requests, 'route')])
  return {
    ...requestFigures(reading, {}),
    versions: Object.fromEntries(
      reading
        .labelValues(byVersion, 'version')
        .map((version) => [version, reading.sum(byVersion, { version })]),
    ),
    decide: reading.labelValues(requests, 'listener').includes(decideListener.listener)
      ? requestFigures(reading, decideListener)
      : null,
    overheadMs: reading.quantiles(overhead) ?? null,
    routes: [...names].map((name) => ({ name, ...requestFigures(ofRoute(name), {}) })),
    refusals: refusalsOf(reading),
    rateLimited: reading.sum('gatehouse_rate_limited_total'),
    tokensIssued: reading.sum('gatehouse_tokens_issued_total'),
    upstreams: upstreams.map(({ name }) => ({
      name,
      requests: reading.sum(`${upstreamDuration}_count`, { upstream: name }),
      latencyMs: reading.quantiles(upstreamDuration, { upstream: name }) ?? null,
    })),
    cache: cacheOf(reading),
    revocationDelayMs: reading.quantiles('gatehouse_revocation_delay_seconds') ?? null,
  }
}

function requestFigures(reading: MetricsReading, labels: Readonly<Record<string, string>>): RequestFigures {
  const countByStatus = (passes: (code: string) => boolean) =>
    reading.sum(requests, labels, ({ code = '' }) => passes(String(code)))
  return {
    requests: reading.sum(requests, labels),
    refused: countByStatus((code) => refusedStatuses.has(code)),
    clientErrors: countByStatus((code) => code.startsWith('4') && !refusedStatuses.has(code)),
    failed: countByStatus((code) => code.startsWith('5')),
    latencyMs: reading.quantiles(duration, labels) ?? null,
  }
}

function refusalsOf(reading: MetricsReading): Figures['refusals'] {
  return reading
    .labelValues(decisions, 'scheme', refused)
    .flatMap((scheme) =>
      reading.labelValues(decisions, 'reason', { ...refused, scheme }).map((code) => ({
        scheme,
        code,
        count: reading.sum(decisions, { ...refused, scheme, reason: code }),
      })),
    )
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => b.count - a.count)
}

function cacheOf(reading: MetricsReading): Figures['cache'] {
  const count = (result: string) => reading.sum('gatehouse_key_cache_requests_total', { result })
  const cache = {
    hits: count('hit'),
    negativeHits: count('negative_hit'),
    misses: count('miss'),
    stale: count('stale'),
  }
  const known = cache.hits + cache.negativeHits + cache.stale
  const all = known + cache.misses
  return { ...cache, hitRatio: all === 0 ? null : known / all }
}

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

export interface Sample {
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
  let samples: readonly Sample[] = []
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
    oldestRecentSample: (now: number): Sample | undefined =>
      samples.find(({ at }) => at < now && now - at <= recentMs),
    /** Oldest first; at most `historyMs / sampleMs` of them. */
    points: (now: number): readonly Point[] =>
      timed.filter(({ endedAt }) => endedAt <= now && now - endedAt < historyMs).map(({ point }) => point),
  }
}

function totalsOf(at: number, reading: MetricsReading): Totals {
  return {
    at,
    requests: reading.sum(requests),
    failed: reading.sum(requests, {}, ({ code = '' }) => String(code).startsWith('5')),
    refusals: new Map(
      reading
        .labelValues(decisions, 'reason', refused)
        .map((reason) => [reason, reading.sum(decisions, { ...refused, reason })]),
    ),
    latency: reading.buckets(duration),
    overhead: reading.buckets(overhead),
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
