import type { MetricsReading, Quantiles } from './read-metrics.ts'

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

export const requestsTotal = 'gatehouse_http_requests_total'
const byVersion = 'gatehouse_http_requests_by_version_total'
export const requestSeconds = 'gatehouse_http_request_duration_seconds'
export const overheadSeconds = 'gatehouse_overhead_duration_seconds'
const upstreamDuration = 'gatehouse_upstream_request_duration_seconds'
export const decisionsTotal = 'gatehouse_auth_decisions_total'
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
  const names = new Set([...routes.map(({ name }) => name), ...reading.labelValues(requestsTotal, 'route')])
  return {
    ...requestFigures(reading, {}),
    versions: Object.fromEntries(
      reading
        .labelValues(byVersion, 'version')
        .map((version) => [version, reading.sum(byVersion, { version })]),
    ),
    decide: reading.labelValues(requestsTotal, 'listener').includes(decideListener.listener)
      ? requestFigures(reading, decideListener)
      : null,
    overheadMs: reading.quantiles(overheadSeconds) ?? null,
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
    reading.sum(requestsTotal, labels, ({ code = '' }) => passes(String(code)))
  return {
    requests: reading.sum(requestsTotal, labels),
    refused: countByStatus((code) => refusedStatuses.has(code)),
    clientErrors: countByStatus((code) => code.startsWith('4') && !refusedStatuses.has(code)),
    failed: countByStatus((code) => code.startsWith('5')),
    latencyMs: reading.quantiles(requestSeconds, labels) ?? null,
  }
}

function refusalsOf(reading: MetricsReading): Figures['refusals'] {
  return reading
    .labelValues(decisionsTotal, 'scheme', refused)
    .flatMap((scheme) =>
      reading.labelValues(decisionsTotal, 'reason', { ...refused, scheme }).map((code) => ({
        scheme,
        code,
        count: reading.sum(decisionsTotal, { ...refused, scheme, reason: code }),
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
