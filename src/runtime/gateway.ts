import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { buildOps, type ReloadOutcome } from '#api/ops.ts'
import type { Config } from '#config/config.ts'
import { ConfigError, type LoadedConfig } from '#config/load.ts'
import { formatProblem, type Path } from '#config/problem.ts'
import { validityProblem } from '#config/schema/certificates.ts'
import { listen, urlOf } from '#gateway/server/listen.ts'
import { type Metrics, openMetrics } from '#ops/metrics/metrics.ts'
import { openStatusReader } from '#ops/status/status.ts'
import { closeOnFailure } from '#platform/close-on-failure.ts'
import { errorMessage, OperatorError } from '#platform/errors/operator-error.ts'
import type { Log } from '#platform/log/log.ts'
import { readVersion } from '#platform/package.ts'
import type { Clock } from '#platform/time.ts'
import { openWorker } from './assembly/worker.ts'
import type { RequestServer, WorkerUrls } from './request-server.ts'

export interface Gateway extends WorkerUrls {
  /** The URL for operators. */
  readonly opsUrl: string
  /** How many requests this process has in flight. */
  requestsInFlight(): number
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
  return closeOnFailure((opened) => openParts(options, opened))
}

/** @param opened gets everything that has to be closed again; it is closed in reverse order */
async function openParts(options: GatewayOptions, opened: AsyncDisposableStack): Promise<Gateway> {
  const { loaded, rereadConfig, log, clock = Date.now } = options
  const version = readVersion()
  const metrics = openMetrics({ version })
  opened.defer(metrics.close)
  let { config } = loaded
  let isShuttingDown = false
  /** 0 until `shutDown`: if opening fails, nothing is waited for. */
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
  const reload = createReload(readAndApply, log, metrics)
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

  async function readAndApply(): Promise<ReloadOutcome> {
    // Closed parts must not be built again.
    if (isShuttingDown) return shuttingDown
    try {
      const next = rereadConfig()
      const problems = restartProblems(config, next)
      if (problems.length > 0) return { kind: 'refused', problems }
      const prepared = await requestServer.prepare(next)
      if (isShuttingDown) {
        prepared.discard()
        return shuttingDown
      }
      await prepared.commit()
      config = next.config
      logCertificateWarning(config, log)
      return { kind: 'taken' }
    } catch (error) {
      if (error instanceof ConfigError) return { kind: 'refused', problems: error.problems }
      const hint = error instanceof OperatorError && error.hint ? `; ${error.hint}` : ''
      return { kind: 'failed', problems: [`${errorMessage(error)}${hint}`] }
    }
  }

  async function shutDown(): Promise<boolean> {
    isShuttingDown = true
    status.close()
    await delay(config.shutdown.delayMs)
    drainMs = config.shutdown.drainMs
    await opened.disposeAsync()
    return isClean
  }

  const { url, decideUrl, redirectUrl } = requestServer
  const opsUrl = urlOf('http', config.ops.host, port)
  const { requestsInFlight } = metrics
  return { url, opsUrl, decideUrl, redirectUrl, requestsInFlight, reload, shutDown }
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

/**
 * Reloads run one after another. Each reads the file again, so that the last reload applies its latest contents. All
 * that are requested while one runs share the next.
 */
function createReload(
  readAndApply: () => Promise<ReloadOutcome>,
  log: Log,
  metrics: Pick<Metrics, 'lastReload' | 'reloads'>,
): () => Promise<ReloadOutcome> {
  let last: Promise<unknown> = Promise.resolve()
  /** The reload that has been requested but has not begun. */
  let next: Promise<ReloadOutcome> | undefined

  async function reloadOnce(): Promise<ReloadOutcome> {
    next = undefined
    const outcome = await readAndApply()
    if (outcome === shuttingDown) {
      log.info('config not reloaded: the gateway is shutting down')
      return outcome
    }
    const isTaken = outcome.kind === 'taken'
    metrics.lastReload.set(Number(isTaken))
    metrics.reloads.inc({ outcome: outcome.kind })
    if (isTaken) log.info('config reloaded')
    else log.error({ problems: outcome.problems }, 'config not reloaded: the previous config stays active')
    return outcome
  }

  return () => {
    next ??= last.then(reloadOnce)
    last = next
    return next
  }
}

const shuttingDown: ReloadOutcome = { kind: 'failed', problems: ['the gateway is shutting down'] }

/** An expired certificate is still used, as some clients accept it, and no client is worse off. */
export function logCertificateWarning({ listen }: Config, log: Log): void {
  const complaint = listen.tls && validityProblem(listen.tls.cert, Date.now())
  if (complaint !== undefined) log.warn({ option: 'listen.tls.cert' }, complaint)
}

/** Options that a running gateway cannot change, as its listeners and its store stay open. */
const restartOnly: readonly { readonly path: Path; of(config: Config): unknown }[] = [
  { path: ['listen', 'host'], of: ({ listen }) => listen.host },
  { path: ['listen', 'port'], of: ({ listen }) => listen.port },
  { path: ['listen', 'workers'], of: ({ listen }) => listen.workers },
  { path: ['listen', 'http2'], of: ({ listen }) => listen.http2 },
  { path: ['listen', 'redirect'], of: ({ listen }) => listen.redirect },
  { path: ['listen', 'tls'], of: ({ listen }) => listen.tls !== undefined },
  { path: ['ops', 'host'], of: ({ ops }) => ops.host },
  { path: ['ops', 'port'], of: ({ ops }) => ops.port },
  { path: ['decide'], of: ({ decide }) => decide },
  { path: ['store'], of: ({ store }) => store },
  { path: ['keys', 'sealingKey'], of: ({ keys }) => keys.sealingKey },
  { path: ['log', 'format'], of: ({ log }) => log.format },
]

/** The changed options that require a restart, one line each; none = the config can be applied. */
function restartProblems(running: Config, { config, sourceOf }: LoadedConfig): string[] {
  return restartOnly
    .filter(({ of }) => !isDeepStrictEqual(of(running), of(config)))
    .map(({ path }) => {
      const message = 'cannot be changed by a reload: restart the gateway, or revert the change'
      return formatProblem({ path, source: sourceOf(path), message })
    })
}
