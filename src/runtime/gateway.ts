import { setTimeout as delay } from 'node:timers/promises'
import { buildOps, type ReloadOutcome } from '#api/ops.ts'
import type { LoadedConfig } from '#config/load.ts'
import { listen, urlOf } from '#gateway/server/listen.ts'
import { type Metrics, openMetrics } from '#ops/metrics/metrics.ts'
import { openStatusReader } from '#ops/status/status.ts'
import type { Log } from '#platform/log/log.ts'
import { readVersion } from '#platform/package.ts'
import type { Clock } from '#platform/time.ts'
import { createReload } from './assembly/reload.ts'
import type { RequestServer } from './assembly/request-server.ts'
import { openWorker } from './assembly/worker.ts'
import type { WorkerUrls } from './assembly/worker-listeners.ts'

export interface Gateway extends WorkerUrls {
  /** The URL for operators. */
  readonly opsUrl: string
  /** Reads the config again and applies it, or reports its problems; reloads run one at a time. */
  reload(): Promise<ReloadOutcome>
  /**
   * Shuts down: first only /readyz says so, then no new connections are accepted, then the remaining ones finish.
   * @returns false if requests had to be aborted
   */
  shutDown(): Promise<boolean>
}

interface GatewayOptions {
  readonly loaded: LoadedConfig
  /** Reads the config again. @throws OperatorError if it cannot be used */
  rereadConfig(): LoadedConfig
  readonly log: Log
  /** Default: the system's. */
  readonly clock?: Clock
}

/**
 * Builds everything from the config and starts to listen: in this process, or in workers.
 * @throws OperatorError if a key, the database or an address is not available
 */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const opened = new AsyncDisposableStack()
  try {
    return await openParts(options, opened)
  } catch (error) {
    await opened.disposeAsync()
    throw error
  }
}

/** @param opened gets everything that has to be closed again; it is closed in reverse order */
async function openParts(options: GatewayOptions, opened: AsyncDisposableStack): Promise<Gateway> {
  const { loaded, rereadConfig, log, clock = Date.now } = options
  const version = readVersion()
  const metrics = openMetrics({ version })
  opened.defer(metrics.close)
  let { config } = loaded
  let isShuttingDown = false
  let drainMs = 0
  let isClean = true
  const requestServer = await openRequestServer(options, metrics)
  let ops: Awaited<ReturnType<typeof buildOps>> | undefined
  // Closed after the request server, so that /readyz reports until the end that the gateway is shutting down.
  opened.defer(() => ops?.close())
  opened.defer(async () => {
    isClean = await requestServer.drain(drainMs)
    await requestServer.close()
  })
  const reload = createReload({
    rereadConfig,
    log,
    metrics,
    currentConfig: () => config,
    isShuttingDown: () => isShuttingDown,
    prepare: requestServer.prepare,
    onReloaded: (next) => {
      config = next
    },
  })
  const shared = {
    health: requestServer.health,
    storeState: requestServer.storeState,
    isShuttingDown: () => isShuttingDown,
  }
  const status = openStatusReader({
    ...shared,
    config: () => config,
    snapshot: requestServer.metricsSnapshot,
    version,
    clock,
  })
  opened.defer(status.close)
  ops = await buildOps({
    ...shared,
    contentType: metrics.contentType,
    address: () => config.ops,
    metricsText: requestServer.metricsText,
    readStatus: status.read,
    reload,
  })
  const port = await listen(ops.server, config.ops, 'ops.host and ops.port')
  await status.start()

  async function shutDown(): Promise<boolean> {
    isShuttingDown = true
    status.close()
    await delay(config.shutdown.delayMs)
    drainMs = config.shutdown.drainMs
    await opened.disposeAsync()
    return isClean
  }

  const { url, decideUrl, redirectUrl } = requestServer
  return { url, opsUrl: urlOf('http', config.ops.host, port), decideUrl, redirectUrl, reload, shutDown }
}

async function openRequestServer(options: GatewayOptions, metrics: Metrics): Promise<RequestServer> {
  const { loaded, log, clock = Date.now } = options
  if (loaded.config.listen.workers > 1) {
    // Loaded only for several workers: a single one does not need it.
    const { openFleet } = await import('./fleet/fleet.ts')
    return openFleet({ loaded, log, metrics })
  }
  const worker = await openWorker({ config: loaded.config, log, metrics, clock })
  return {
    ...worker,
    prepare: (next) => worker.prepare(next.config),
    metricsText: metrics.text,
    metricsSnapshot: metrics.ownSnapshot,
  }
}
