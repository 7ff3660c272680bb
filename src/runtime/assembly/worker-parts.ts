import { isDeepStrictEqual } from 'node:util'
import type { Config } from '#config/config.ts'
import { closeUpstreams, openUpstreams, type Upstreams } from '#http/upstream/upstream.ts'
import type { TargetState } from '#ops/metrics/instruments.ts'
import { type Exporter, openExporter } from '#ops/tracing/exporter.ts'
import { OperatorError } from '#platform/errors/operator-error.ts'
import { readVersion } from '#platform/package.ts'
import { deriveKeys } from '#platform/secrets/sealing.ts'
import { type CallerAuth, openCallerAuth } from './caller-auth.ts'
import { type ConfigParts, callerAuthConfigOf } from './store-parts.ts'
import { buildTraffic, type KeptParts, type ReusedParts, type WorkerTraffic } from './traffic.ts'

/** The parts that are built from one config. */
export interface WorkerParts extends ReusedParts {
  readonly config: Config
  readonly traffic: WorkerTraffic
  /** Closes what `other` does not use; undefined = everything. */
  closeUnshared(other: WorkerParts | undefined): Promise<void>
}

/**
 * Builds the parts of a config; unchanged parts are reused from `before`, with their caches and connections.
 * @throws OperatorError, with nothing left open
 */
export async function buildWorkerParts(
  parts: ConfigParts,
  kept: KeptParts,
  before?: WorkerParts,
): Promise<WorkerParts> {
  const { config, log } = parts
  const isReused = before && isDeepStrictEqual(callerAuthConfigOf(config), callerAuthConfigOf(before.config))
  const callerAuth = isReused ? before.callerAuth : await openCallerAuth(parts)
  const targetKeys = deriveKeys(parts.sealingKeys, 'targets')
  const upstreams = openUpstreams(config.upstreams, before?.upstreams, { log, targetKeys })
  const hasSameTracing = before && isDeepStrictEqual(config.tracing, before.config.tracing)
  const exporter = hasSameTracing ? before.exporter : openTraceExporter(parts)
  const reused = { callerAuth, upstreams, exporter }

  async function closeUnshared(other: WorkerParts | undefined): Promise<void> {
    if (other?.callerAuth !== callerAuth) callerAuth.close()
    closeUpstreams(upstreams, other?.upstreams)
    if (other?.exporter !== exporter) await exporter?.close()
  }

  try {
    if (before && !isReused) {
      assertStoreConnected(callerAuth)
      // Until then the previous config serves the issuers whose keys it has.
      await callerAuth.issuers.settled()
    }
    return { config, ...reused, traffic: await buildTraffic(parts, kept, reused), closeUnshared }
  } catch (error) {
    void closeUnshared(before)
    throw error
  }
}

function openTraceExporter({ config: { tracing }, metrics, log }: ConfigParts): Exporter | undefined {
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
    [...Map.groupBy(targets(), ({ configured }) => configured)].map(([target, each]) => {
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
