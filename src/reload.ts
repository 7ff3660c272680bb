import { validityComplaint } from './config/certificate.ts'
import type { Config } from './config/config.ts'
import { ConfigError, type LoadedConfig } from './config/load.ts'
import { restartProblems } from './config/reload.ts'
import { OperatorError, reasonOf } from './errors.ts'
import type { PreparedChange } from './front.ts'
import type { Log } from './log/log.ts'
import type { Metrics } from './metrics/metrics.ts'

/** The outcome of a reload. Unless it was taken the old config stays in force. */
export type ReloadOutcome =
  | { readonly kind: 'taken' }
  /** The config cannot be taken. */
  | { readonly kind: 'refused'; readonly problems: readonly string[] }
  /** The config may be valid, but could not be built now. */
  | { readonly kind: 'failed'; readonly problems: readonly string[] }

export interface ReloadOptions {
  running(): Config
  reread(): LoadedConfig
  /** Builds all that the config needs, beside the one in force. */
  prepare(next: LoadedConfig): Promise<PreparedChange>
  onTaken(config: Config): void
  readonly log: Log
  readonly metrics: Pick<Metrics, 'lastReload' | 'reloads'>
}

/** Reloads run one after another: each reads the file anew, so that the last reload takes its last contents. */
export function createReload(options: ReloadOptions): () => Promise<ReloadOutcome> {
  const { log, metrics } = options
  let last: Promise<unknown> = Promise.resolve()

  async function once(): Promise<ReloadOutcome> {
    const outcome = await attempt(options)
    const isTaken = outcome.kind === 'taken'
    metrics.lastReload.set(Number(isTaken))
    metrics.reloads.inc({ outcome: outcome.kind })
    if (isTaken) log.info('the config was reloaded')
    else
      log.error(
        { problems: outcome.problems },
        'the config was not reloaded: the previous one stays in force',
      )
    return outcome
  }

  return () => {
    const outcome = last.then(once)
    last = outcome
    return outcome
  }
}

async function attempt({ running, reread, prepare, onTaken, log }: ReloadOptions): Promise<ReloadOutcome> {
  try {
    const next = reread()
    const problems = restartProblems(running(), next)
    if (problems.length > 0) return { kind: 'refused', problems }
    const change = await prepare(next)
    await change.commit()
    onTaken(next.config)
    warnOfCertificate(next.config, log)
    return { kind: 'taken' }
  } catch (error) {
    if (error instanceof ConfigError) return { kind: 'refused', problems: error.problems }
    const hint = error instanceof OperatorError && error.hint ? `; ${error.hint}` : ''
    return { kind: 'failed', problems: [`${reasonOf(error)}${hint}`] }
  }
}

/** An expired certificate is used all the same: some clients accept it, and none is worse off than without it. */
export function warnOfCertificate({ listen }: Config, log: Log): void {
  const complaint = listen.tls && validityComplaint(listen.tls.cert, Date.now())
  if (complaint !== undefined) log.warn({ option: 'listen.tls.cert' }, complaint)
}
