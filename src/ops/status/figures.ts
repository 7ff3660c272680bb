import { metricNames } from '../metrics/metric-names.ts'
import type { MetricsReading, Quantiles } from './read-metrics.ts'

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
  /** Look-ups in the account cache. */
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

const decideListener = { listener: 'decide' } as const
export const refused = { outcome: 'refused' } as const
const refusedStatuses = new Set(['401', '403', '429'])

/** The names in the config of everything that has figures of its own. */
export interface FigureNames {
  readonly routes: readonly { readonly name: string }[]
  readonly upstreams: readonly { readonly name: string }[]
}

export function figuresOf(reading: MetricsReading, { routes, upstreams }: FigureNames): Figures {
  const ofRoute = reading.by('route')
  const names = new Set([
    ...routes.map(({ name }) => name),
    ...reading.labelValues(metricNames.requests, 'route'),
  ])
  return {
    ...requestFigures(reading, {}),
    versions: Object.fromEntries(
      reading
        .labelValues(metricNames.requestsByVersion, 'version')
        .map((version) => [version, reading.sum(metricNames.requestsByVersion, { version })]),
    ),
    decide: reading.labelValues(metricNames.requests, 'listener').includes(decideListener.listener)
      ? requestFigures(reading, decideListener)
      : null,
    overheadMs: reading.quantiles(metricNames.overhead) ?? null,
    routes: [...names].map((name) => ({ name, ...requestFigures(ofRoute(name), {}) })),
    refusals: refusalsOf(reading),
    rateLimited: reading.sum(metricNames.rateLimited),
    tokensIssued: reading.sum(metricNames.tokensIssued),
    upstreams: upstreams.map(({ name }) => ({
      name,
      requests: reading.sum(`${metricNames.upstreamDuration}_count`, { upstream: name }),
      latencyMs: reading.quantiles(metricNames.upstreamDuration, { upstream: name }) ?? null,
    })),
    cache: cacheOf(reading),
    revocationDelayMs: reading.quantiles(metricNames.revocationDelay) ?? null,
  }
}

function requestFigures(reading: MetricsReading, labels: Readonly<Record<string, string>>): RequestFigures {
  const countByStatus = (passes: (code: string) => boolean) =>
    reading.sum(metricNames.requests, labels, ({ code = '' }) => passes(String(code)))
  return {
    requests: reading.sum(metricNames.requests, labels),
    refused: countByStatus((code) => refusedStatuses.has(code)),
    clientErrors: countByStatus((code) => code.startsWith('4') && !refusedStatuses.has(code)),
    failed: countByStatus((code) => code.startsWith('5')),
    latencyMs: reading.quantiles(metricNames.requestDuration, labels) ?? null,
  }
}

function refusalsOf(reading: MetricsReading): Figures['refusals'] {
  return reading
    .labelValues(metricNames.decisions, 'scheme', refused)
    .flatMap((scheme) =>
      reading.labelValues(metricNames.decisions, 'reason', { ...refused, scheme }).map((code) => ({
        scheme,
        code,
        count: reading.sum(metricNames.decisions, { ...refused, scheme, reason: code }),
      })),
    )
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => b.count - a.count)
}

function cacheOf(reading: MetricsReading): Figures['cache'] {
  const count = (result: string) => reading.sum(metricNames.keyCache, { result })
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
