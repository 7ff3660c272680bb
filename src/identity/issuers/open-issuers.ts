import type { Clock } from '#platform/clock.ts'
import type { Log } from '#platform/log/log.ts'
import type { ForeignIssuer, VerifiedForeignTokens } from './foreign-tokens.ts'
import type { IssuerOptions } from './issuer.ts'
import { type IssuerState, openIssuerKeys } from './issuer-keys.ts'
import { type KeySetFetches, openKeySetFetches } from './key-set-fetches.ts'

/** The configured issuers with their keys. */
export interface Issuers {
  readonly all: readonly ForeignIssuer[]
  has(name: string): boolean
  states(): readonly IssuerState[]
  /** Resolves once the keys of each were fetched, or could not be, or after a second. Never rejects. */
  settled(): Promise<void>
  /** Stops fetching keys. */
  close(): void
}

export interface IssuersOptions {
  readonly issuers: readonly IssuerOptions[]
  readonly verified: VerifiedForeignTokens & { clear(): void; clearRefused(): void }
  readonly log: Pick<Log, 'info' | 'error'>
  /** Monotonic. */
  readonly monotonic: Clock
  /** Whether keys are fetched at once and refreshed; false = only when a token needs them. */
  readonly isRefreshed: boolean
  /** Shared with other workers; undefined = there are none. */
  readonly fetches?: Pick<KeySetFetches, 'fetch'> | undefined
  /** Earlier decisions about tokens do not hold any more. */
  onReplaced(): void
  onFetched(issuer: string, isSuccess: boolean): void
}

export function openIssuers(options: IssuersOptions): Issuers {
  const { issuers, verified, log, monotonic, isRefreshed } = options
  const own = openKeySetFetches(monotonic)
  const fetches = options.fetches ?? own

  function onReplaced(change: 'added' | 'removed'): void {
    if (change === 'removed') verified.clear()
    else verified.clearRefused()
    options.onReplaced()
  }

  const all = issuers.map((issuer) => ({
    options: issuer,
    keys: openIssuerKeys({
      issuer,
      log,
      monotonic,
      isRefreshed,
      fetches,
      onReplaced,
      onFetched: (isSuccess) => options.onFetched(issuer.name, isSuccess),
    }),
  }))
  const names = new Set(issuers.map(({ name }) => name))

  return {
    all,
    has: (name) => names.has(name),
    states: () => all.map(({ keys }) => keys.state()),
    settled: async () => void (await Promise.all(all.map(({ keys }) => keys.settled()))),
    close: () => {
      for (const { keys } of all) keys.close()
      own.close()
    },
  }
}
