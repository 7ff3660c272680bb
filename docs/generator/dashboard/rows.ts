import { increaseOf, quantileOf, rateOf, series } from './query.ts'

/** The rows of the dashboard, the most important first. */

/** As Grafana names them. */
export type Unit = 'short' | 'reqps' | 'percentunit' | 's' | 'bytes' | 'cps'

export interface Query {
  readonly expr: string
  /** The legend of a line; `{{label}}` is replaced by the value of a label. */
  readonly legend: string
}

export interface Panel {
  readonly title: string
  /** A current value, or a graph over time. */
  readonly kind: 'figure' | 'graph'
  readonly unit: Unit
  readonly queries: readonly Query[]
  /** From this value on a figure is red. */
  readonly badFrom?: number
  /** Below this value a figure is red. */
  readonly badBelow?: number
  /** Words for values of a figure. */
  readonly words?: Readonly<Record<string, string>>
  /** Stacked areas: parts of a whole. */
  readonly isStacked?: boolean
  /** Default: the help text of the metric. */
  readonly description?: string
}

export interface Row {
  readonly title: string
  readonly panels: readonly Panel[]
}

const requests = 'gatehouse_http_requests_total'
const byVersion = 'gatehouse_http_requests_by_version_total'
const serverErrors = rateOf(requests, [], 'code=~"5.."')
const latency = 'gatehouse_http_request_duration_seconds'
const overhead = 'gatehouse_overhead_duration_seconds'
const decisions = 'gatehouse_auth_decisions_total'
const lookUps = 'gatehouse_key_cache_requests_total'
const upstreamTime = 'gatehouse_upstream_request_duration_seconds'
const delay = 'gatehouse_revocation_delay_seconds'

function figure(title: string, unit: Unit, expr: string, more: Partial<Panel> = {}): Panel {
  return { title, kind: 'figure', unit, queries: [{ expr, legend: title }], ...more }
}

function graph(
  title: string,
  unit: Unit,
  lines: Readonly<Record<string, string>>,
  more: Partial<Panel> = {},
): Panel {
  const queries = Object.entries(lines).map(([legend, expr]) => ({ legend, expr }))
  return { title, kind: 'graph', unit, queries, ...more }
}

export const rows: readonly Row[] = [
  {
    title: 'Now',
    panels: [
      figure('Instances', 'short', `count(${series('gatehouse_build_info')})`, { badBelow: 1 }),
      figure('Requests per second', 'reqps', rateOf(requests)),
      figure('Server errors', 'percentunit', `(${serverErrors} or vector(0)) / ${rateOf(requests)}`, {
        badFrom: 0.05,
        description: 'The share of 5xx responses, of the gateway or of its backends.',
      }),
      figure('Latency p99', 's', quantileOf(0.99, latency)),
      figure('Store', 'short', `min(${series('gatehouse_store_up')})`, {
        badBelow: 1,
        words: { 0: 'unreachable', 1: 'up' },
      }),
      figure('Store writes', 'short', `min(${series('gatehouse_store_writable')})`, {
        badBelow: 1,
        words: { 0: 'rejected', 1: 'accepted' },
      }),
      figure(
        'Ejected targets',
        'short',
        `count(${series('gatehouse_upstream_target_healthy')} == 0) or vector(0)`,
        {
          badFrom: 1,
        },
      ),
    ],
  },
  {
    title: 'Traffic',
    panels: [
      graph('Requests by route', 'reqps', { '{{route}}': rateOf(requests, ['route']) }, { isStacked: true }),
      graph(
        'Requests by version of HTTP',
        'reqps',
        { 'HTTP/{{version}}': rateOf(byVersion, ['version']) },
        { isStacked: true },
      ),
      graph('Responses by status', 'reqps', { '{{code}}': rateOf(requests, ['code']) }, { isStacked: true }),
      graph(
        'Decisions for other proxies',
        'reqps',
        { '{{code}}': rateOf(requests, ['code'], 'listener="decide"') },
        {
          isStacked: true,
          description: 'Requests that other proxies asked about, by the status that was decided.',
        },
      ),
      graph('Latency', 's', {
        p50: quantileOf(0.5, latency),
        p95: quantileOf(0.95, latency),
        p99: quantileOf(0.99, latency),
      }),
      graph('Latency p99 by route', 's', { '{{route}}': quantileOf(0.99, latency, ['route']) }),
      graph(
        'In flight',
        'short',
        {
          requests: `sum(${series('gatehouse_http_requests_in_flight')})`,
          WebSockets: `sum(${series('gatehouse_websockets_open')})`,
          'readers of revocations': `sum(${series('gatehouse_revocation_readers')})`,
        },
        {
          description:
            'Requests without a complete response, open WebSockets, and backends that follow revocations.',
        },
      ),
      graph('Rate-limited requests by route', 'reqps', {
        '{{route}}': rateOf('gatehouse_rate_limited_total', ['route']),
      }),
    ],
  },
  {
    title: 'Authentication',
    panels: [
      graph(
        'Decisions by scheme',
        'cps',
        { '{{scheme}} {{outcome}}': rateOf(decisions, ['scheme', 'outcome']) },
        { isStacked: true },
      ),
      graph('Refusals by reason', 'cps', {
        '{{reason}}': rateOf(decisions, ['reason'], 'outcome="refused"'),
      }),
      graph('Account look-ups', 'cps', { '{{result}}': rateOf(lookUps, ['result']) }, { isStacked: true }),
      graph('Access tokens issued', 'cps', {
        '{{grant}}': rateOf('gatehouse_tokens_issued_total', ['grant']),
      }),
      graph('Keys of foreign issuers', 'short', {
        '{{issuer}} known': `min by (issuer) (${series('gatehouse_issuer_keys')})`,
        '{{issuer}} up': `min by (issuer) (${series('gatehouse_issuer_up')})`,
      }),
      graph('Fetches of keys of foreign issuers', 'short', {
        '{{issuer}} {{outcome}}': increaseOf('gatehouse_issuer_fetches_total', ['issuer', 'outcome']),
      }),
      graph('Questions to foreign issuers about tokens', 'cps', {
        '{{issuer}} {{outcome}}': rateOf('gatehouse_issuer_questions_total', ['issuer', 'outcome']),
      }),
    ],
  },
  {
    title: 'Upstreams',
    panels: [
      graph('Requests by upstream', 'reqps', {
        '{{upstream}}': rateOf(`${upstreamTime}_count`, ['upstream']),
      }),
      graph('Latency p99 by upstream', 's', { '{{upstream}}': quantileOf(0.99, upstreamTime, ['upstream']) }),
      graph('Healthy targets', 'short', {
        '{{upstream}} {{target}}': `min by (upstream, target) (${series('gatehouse_upstream_target_healthy')})`,
      }),
      graph('Addresses of targets', 'short', {
        '{{upstream}} {{target}} {{state}}': `max by (upstream, target, state) (${series('gatehouse_upstream_target_addresses')})`,
      }),
      graph('Gateway overhead', 's', {
        p50: quantileOf(0.5, overhead),
        p99: quantileOf(0.99, overhead),
      }),
    ],
  },
  {
    title: 'Store and revocation',
    panels: [
      graph('Store up, and accepting writes', 'short', {
        '{{instance}} up': series('gatehouse_store_up'),
        '{{instance}} writable': series('gatehouse_store_writable'),
      }),
      graph('Revocation delay', 's', {
        p50: quantileOf(0.5, delay),
        p99: quantileOf(0.99, delay),
      }),
      graph(
        'Refresh tokens issued, not acknowledged',
        'short',
        {
          '{{instance}} pending': series('gatehouse_refresh_acknowledgements_pending'),
          '{{instance}} lost': `increase(${series('gatehouse_refresh_acknowledgements_lost_total')}[$__rate_interval])`,
        },
        {
          description:
            'Until the store has the acknowledgement, the previous token stays valid: its reuse is detected later.',
        },
      ),
      graph('Events for receivers', 'short', {
        '{{instance}} pending': series('gatehouse_events_pending'),
        '{{result}}': increaseOf('gatehouse_events_delivered_total', ['result']),
      }),
      graph(
        'Requests missing in the usage of accounts',
        'short',
        { '{{instance}}': `increase(${series('gatehouse_usage_lost_total')}[$__rate_interval])` },
        { description: 'Too much waited to be written while the store was unavailable.' },
      ),
      graph('Reloads', 'short', { '{{outcome}}': increaseOf('gatehouse_config_reloads_total', ['outcome']) }),
      graph('Last config reload applied', 'short', {
        '{{instance}}': series('gatehouse_config_last_reload_successful'),
      }),
    ],
  },
  {
    title: 'Processes',
    panels: [
      graph(
        'CPU',
        'short',
        { '{{instance}}': `rate(${series('process_cpu_seconds_total')}[$__rate_interval])` },
        {
          description:
            'CPU cores used by all workers of an instance. One worker can use little more than one.',
        },
      ),
      graph(
        'Memory',
        'bytes',
        { '{{instance}}': series('process_resident_memory_bytes') },
        { description: 'Resident memory of all workers of an instance.' },
      ),
      graph(
        'Event loop lag p99',
        's',
        { '{{instance}}': series('nodejs_eventloop_lag_p99_seconds') },
        {
          description: 'How late a timer runs: a delay of every request. With several workers, the worst.',
        },
      ),
      graph('Connections dropped', 'short', {
        '{{instance}}': `increase(${series('gatehouse_connections_dropped_total')}[$__rate_interval])`,
        '{{instance}} cut off (HTTP/2)': `increase(${series('gatehouse_http2_connections_cut_total')}[$__rate_interval])`,
      }),
      graph('Workers', 'short', {
        '{{instance}}': series('gatehouse_workers'),
        '{{instance}} exited unexpectedly': `increase(${series('gatehouse_worker_deaths_total')}[$__rate_interval])`,
        '{{instance}} hung': `increase(${series('gatehouse_worker_hangs_total')}[$__rate_interval])`,
      }),
      graph('Trace spans', 'cps', { '{{outcome}}': rateOf('gatehouse_trace_spans_total', ['outcome']) }),
      graph('Builds', 'short', {
        '{{version}} on Node {{node}}': `count by (version, node) (${series('gatehouse_build_info')})`,
      }),
    ],
  },
]
