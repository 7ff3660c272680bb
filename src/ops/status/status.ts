import { readTargetAddress } from '#http/outgoing/target-address.ts'
import type { UpstreamConfig } from '#http/upstream/upstream-config.ts'
import type { Clock } from '#platform/time.ts'
import type { StoreHealth, StoreState } from '#store/store-health.ts'
import { metricNames, ownPrefix } from '../metrics/metric-names.ts'
import type { PackedSnapshot } from '../metrics/metrics.ts'
import { type FigureNames, type Figures, figuresOf } from './figures.ts'
import { createHistory, type Point, sampleMs, type TimedSnapshot } from './history.ts'
import { type MetricsReading, readMetrics } from './read-metrics.ts'

/** The state of the gateway at one moment. */
export interface Status {
  readonly status: StoreHealth | 'shutting-down'
  readonly version: string
  /** ISO 8601. */
  readonly at: string
  readonly uptimeS: number
  readonly workers: number
  readonly inFlight: number
  readonly webSocketsOpen: number
  readonly lastReloadSuccessful: boolean
  readonly store: StoreState & {
    readonly driver: string
    readonly isUp: boolean
    /** Whether it accepts writes. */
    readonly isWritable: boolean
  }
  readonly upstreams: readonly { readonly name: string; readonly targets: readonly ShownTarget[] }[]
  readonly sinceStart: Figures
  /** The last minute, or the time since the start; null right after the start. */
  readonly recent: (Figures & { readonly seconds: number }) | null
  /** The last hour, oldest first. */
  readonly series: readonly Point[]
}

/** A target as the status page shows it. */
export interface ShownTarget {
  readonly url: string
  readonly weight: number
  /** null where its health is not checked. */
  readonly isHealthy: boolean | null
  /** How many addresses its host name has, with `resolve: all`; null = it is one server, or was not resolved yet. */
  readonly addresses: { readonly healthy: number; readonly ejected: number } | null
}

/** The parts of the config that are shown. */
interface StatusConfig extends FigureNames {
  readonly store: { readonly driver: string }
  readonly upstreams: readonly Pick<UpstreamConfig, 'name' | 'targets'>[]
}

interface StatusOptions {
  /** The current config. */
  config(): StatusConfig
  health(): StoreHealth | Promise<StoreHealth>
  storeState(): StoreState | Promise<StoreState>
  isShuttingDown(): boolean
  snapshot(): Promise<PackedSnapshot>
  readonly version: string
  readonly clock: Clock
}

/** Reports the current state, and samples the metrics for the history. */
export function openStatusReader(options: StatusOptions) {
  const { config, health, storeState, isShuttingDown, snapshot, version, clock } = options
  const startedAt = clock()
  const history = createHistory()

  async function sample(): Promise<TimedSnapshot> {
    const shown = await snapshot()
    const taken = { at: clock(), snapshot: shown.filter(({ name }) => name.startsWith(ownPrefix)) }
    history.add(taken.at, taken.snapshot)
    return taken
  }

  async function read(): Promise<Status> {
    const [current, healthNow, state] = await Promise.all([sample(), health(), storeState()])
    const now = current.at
    const before = history.oldestRecentSample(now)
    const currentConfig = config()
    const totals = readMetrics(current.snapshot)
    return {
      status: isShuttingDown() ? 'shutting-down' : healthNow,
      version,
      at: new Date(now).toISOString(),
      uptimeS: Math.floor((now - startedAt) / 1_000),
      workers: totals.sum(metricNames.workersUp),
      inFlight: totals.sum(metricNames.requestsInFlight),
      webSocketsOpen: totals.sum(metricNames.webSocketsOpen),
      lastReloadSuccessful: totals.sum(metricNames.lastReload) === 1,
      store: {
        driver: currentConfig.store.driver,
        isUp: totals.sum(metricNames.storeUp) === 1,
        isWritable: totals.sum(metricNames.storeWritable) === 1,
        ...state,
      },
      upstreams: targetsOf(currentConfig, totals),
      sinceStart: figuresOf(totals, currentConfig),
      recent: before
        ? {
            seconds: (now - before.at) / 1_000,
            ...figuresOf(readMetrics(current.snapshot, before.snapshot), currentConfig),
          }
        : null,
      series: history.points(now),
    }
  }

  // A failed sample is skipped; the next one covers its interval.
  const timer = setInterval(() => void sample().catch(() => {}), sampleMs).unref()

  return {
    read,
    /** Takes the first sample; a timer takes further ones. */
    start: async () => void (await sample()),
    close: () => clearInterval(timer),
  }
}

function targetsOf({ upstreams }: StatusConfig, reading: MetricsReading): Status['upstreams'] {
  const { targetHealthy: healthy, targetAddresses: addresses } = metricNames
  return upstreams.map(({ name, targets }) => {
    const watched = new Set(reading.labelValues(healthy, 'target', { upstream: name }))
    const resolved = new Set(reading.labelValues(addresses, 'target', { upstream: name }))
    return {
      name,
      targets: targets.map(({ url, weight }) => {
        const { name: target } = readTargetAddress(url)
        return {
          url: target,
          weight,
          isHealthy: watched.has(target) ? reading.sum(healthy, { upstream: name, target }) === 1 : null,
          addresses: resolved.has(target)
            ? {
                healthy: reading.sum(addresses, { upstream: name, target, state: 'healthy' }),
                ejected: reading.sum(addresses, { upstream: name, target, state: 'ejected' }),
              }
            : null,
        }
      }),
    }
  })
}
