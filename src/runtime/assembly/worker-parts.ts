import { isDeepStrictEqual } from 'node:util'
import type { Config } from '#config/config.ts'
import { closeUpstreams, openUpstreams, type Upstreams } from '#http/upstream/upstream.ts'
import type { TargetState } from '#ops/metrics/instruments.ts'
import { type Exporter, openExporter } from '#ops/tracing/exporter.ts'
import { OperatorError } from '#platform/errors/operator-error.ts'
import { readVersion } from '#platform/package.ts'
import { deriveKeys } from '#platform/secrets/sealing.ts'
import { type CallerAuth, openCallerAuth } from './caller-auth.ts'
import { callerAuthConfigOf } from './store-parts.ts'
import { buildTraffic, type TrafficOptions, type WorkerTraffic } from './traffic.ts'

/** The parts that are built from one config. */
export interface WorkerParts {
  readonly config: Config
  readonly callerAuth: CallerAuth
  readonly upstreams: Upstreams
  readonly traffic: WorkerTraffic
  readonly exporter: Exporter | undefined
  /** Closes what `other` does not use; undefined = everything. */
  closeUnshared(other: WorkerParts | undefined): void
}

type WorkerPartsOptions = Omit<TrafficOptions, 'config' | 'callerAuth' | 'upstreams' | 'exporter'>

/**
 * Builds the parts of a config; unchanged parts are reused from `before`, with their caches and connections.
 * @throws OperatorError, with nothing left open
 */
type BuildWorkerParts = (config: Config, before?: WorkerParts) => Promise<WorkerParts>

export function createWorkerPartsBuilder(options: WorkerPartsOptions): BuildWorkerParts {
  const targetKeys = deriveKeys(options.sealingKeys, 'targets')

  return async function build(config, before) {
    const isReused =
      before && isDeepStrictEqual(callerAuthConfigOf(config), callerAuthConfigOf(before.config))
    const callerAuth = isReused ? before.callerAuth : await openCallerAuth({ ...options, config })
    const upstreams = openUpstreams(config.upstreams, before?.upstreams, { log: options.log, targetKeys })
    const hasSameTracing = before && isDeepStrictEqual(config.tracing, before.config.tracing)
    const exporter = hasSameTracing ? before.exporter : openTraceExporter(config, options)

    function closeUnshared(other: WorkerParts | undefined): void {
      if (other?.callerAuth !== callerAuth) callerAuth.close()
      closeUpstreams(upstreams, other?.upstreams)
      if (other?.exporter !== exporter) void exporter?.close()
    }

    try {
      if (before && !isReused) {
        assertStoreConnected(callerAuth)
        // Until then the previous config serves the issuers whose keys it has.
        await callerAuth.issuers.settled()
      }
      const traffic = await buildTraffic({ ...options, config, callerAuth, upstreams, exporter })
      return { config, callerAuth, upstreams, traffic, exporter, closeUnshared }
    } catch (error) {
      closeUnshared(before)
      throw error
    }
  }
}

function openTraceExporter(
  { tracing }: Config,
  { metrics, log }: Pick<TrafficOptions, 'metrics' | 'log'>,
): Exporter | undefined {
  if (!tracing) return undefined
  const { spans } = metrics
  return openExporter({
    url: tracing.url,
    headers: tracing.headers,
    resource: { 'service.name': 'gatehouse', 'service.version': readVersion(), ...tracing.resource },
    counts: { sent: spans.labels('sent'), dropped: spans.labels('dropped'), failed: spans.labels('failed') },
    log,
  })
}

/** New caches have neither accounts nor keys: while the store is unreachable, every caller would be rejected. */
function assertStoreConnected({ storeConnection, keyring }: CallerAuth): void {
  if (storeConnection.isUp && keyring.isLoaded()) return
  throw new OperatorError('the store is unreachable, and changed tokens or cache settings require it', {
    hint: 'Reload again once /readyz reports ok.',
  })
}

/** The current health of every configured target. One that is resolved gets requests if any of its addresses does. */
export function targetStates(upstreams: Upstreams): readonly TargetState[] {
  return [...upstreams.values()].flatMap(({ name, targets }) =>
    [...Map.groupBy(targets, ({ configured }) => configured)].map(([target, each]) => {
      const healthy = each.filter(({ health }) => !health?.isEjected).length
      const isResolved = each.some(({ address }) => address !== undefined)
      return {
        upstream: name,
        target,
        isHealthy: healthy > 0,
        addresses: isResolved ? { healthy, ejected: each.length - healthy } : undefined,
      }
    }),
  )
}
