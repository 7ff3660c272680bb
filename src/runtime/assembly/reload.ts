import type { ReloadOutcome } from '#api/ops.ts'
import { validityProblem } from '#config/certificate.ts'
import type { Config } from '#config/config.ts'
import { ConfigError, type LoadedConfig } from '#config/load.ts'
import { restartProblems } from '#config/restart-problems.ts'
import type { Metrics } from '#ops/metrics/metrics.ts'
import { errorMessage, OperatorError } from '#platform/errors/operator-error.ts'
import type { Log } from '#platform/log/log.ts'
import type { PreparedConfig } from './request-server.ts'

export interface ReloadOptions {
  currentConfig(): Config
  /** Then nothing is reloaded: what is closed must not be built again. */
  isShuttingDown(): boolean
  rereadConfig(): LoadedConfig
  /** Builds all that the config needs, beside the current one. */
  prepare(next: LoadedConfig): Promise<PreparedConfig>
  onReloaded(config: Config): void
  readonly log: Log
  readonly metrics: Pick<Metrics, 'lastReload' | 'reloads'>
}

/**
 * Reloads run one after another: each reads the file again, so that the last reload applies its latest contents. All that
 * are asked for while one runs share the next.
 */
export function createReload(options: ReloadOptions): () => Promise<ReloadOutcome> {
  const { log, metrics } = options
  let last: Promise<unknown> = Promise.resolve()
  /** The reload that has not begun yet. */
  let next: Promise<ReloadOutcome> | undefined

  async function reloadOnce(): Promise<ReloadOutcome> {
    next = undefined
    const outcome = await tryReload(options)
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

async function tryReload({
  currentConfig,
  isShuttingDown,
  rereadConfig,
  prepare,
  onReloaded,
  log,
}: ReloadOptions): Promise<ReloadOutcome> {
  if (isShuttingDown()) return shuttingDown
  try {
    const next = rereadConfig()
    const problems = restartProblems(currentConfig(), next)
    if (problems.length > 0) return { kind: 'refused', problems }
    const prepared = await prepare(next)
    if (isShuttingDown()) {
      prepared.discard()
      return shuttingDown
    }
    await prepared.commit()
    onReloaded(next.config)
    logCertificateWarning(next.config, log)
    return { kind: 'taken' }
  } catch (error) {
    if (error instanceof ConfigError) return { kind: 'refused', problems: error.problems }
    const hint = error instanceof OperatorError && error.hint ? `; ${error.hint}` : ''
    return { kind: 'failed', problems: [`${errorMessage(error)}${hint}`] }
  }
}

/** An expired certificate is still used: some clients accept it, and no client is worse off. */
export function logCertificateWarning({ listen }: Config, log: Log): void {
  const complaint = listen.tls && validityProblem(listen.tls.cert, Date.now())
  if (complaint !== undefined) log.warn({ option: 'listen.tls.cert' }, complaint)
}
