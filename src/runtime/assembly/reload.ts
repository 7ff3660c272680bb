import { isDeepStrictEqual } from 'node:util'
import type { ReloadOutcome } from '#api/ops.ts'
import { validityProblem } from '#config/certificate.ts'
import type { Config } from '#config/config.ts'
import { ConfigError, type LoadedConfig } from '#config/load.ts'
import { formatProblem, type Path } from '#config/problem.ts'
import type { Metrics } from '#ops/metrics/metrics.ts'
import { errorMessage, OperatorError } from '#platform/errors/operator-error.ts'
import type { Log } from '#platform/log/log.ts'
import type { PreparedConfig } from './request-server.ts'

interface ReloadOptions {
  currentConfig(): Config
  /** If so, nothing is reloaded: closed parts must not be built again. */
  isShuttingDown(): boolean
  rereadConfig(): LoadedConfig
  /** Builds everything that the config needs, beside the current one. */
  prepare(next: LoadedConfig): Promise<PreparedConfig>
  onReloaded(config: Config): void
  readonly log: Log
  readonly metrics: Pick<Metrics, 'lastReload' | 'reloads'>
}

/**
 * Reloads run one after another. Each reads the file again, so that the last reload applies its latest contents. All
 * that are requested while one runs share the next.
 */
export function createReload(options: ReloadOptions): () => Promise<ReloadOutcome> {
  const { log, metrics } = options
  let last: Promise<unknown> = Promise.resolve()
  /** The reload that has been requested but has not begun. */
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
