import {
  createIntrospection,
  type Introspection,
  type IntrospectionOptions,
  type IntrospectionOutcome,
} from './introspection.ts'
import type { IssuerOptions } from './issuer.ts'
import { type KeySetFetches, openKeySetFetches } from './issuer-fetches.ts'
import { type IssuerKeys, openIssuerKeys } from './issuer-keys.ts'

/** What operators see of an issuer. */
interface IssuerState {
  readonly issuer: string
  /** How many keys are known; 0 = none could be fetched yet; undefined = it is only asked about tokens. */
  readonly keys: number | undefined
  /** Whether the last fetch of its keys succeeded, and it answered the last question about a token. */
  readonly isUp: boolean
}

/** The configured issuers with their keys. */
export interface Issuers {
  readonly all: readonly ForeignIssuer[]
  has(name: string): boolean
  states(): readonly IssuerState[]
  /** Resolves once the keys of each issuer were fetched or failed to be, or after a second. Never rejects. */
  settled(): Promise<void>
  /** Stops fetching keys. */
  close(): void
}

export interface IssuersOptions
  extends Pick<IntrospectionOptions, 'log' | 'clockToleranceMs' | 'answersMax' | 'clock' | 'monotonic'> {
  readonly issuers: readonly IssuerOptions[]
  readonly verified: { clear(): void; clearRefused(): void }
  /** See IssuerKeysOptions. */
  readonly isRefreshed: boolean
  /** Shared with other workers; undefined = there are none. */
  readonly fetches?: Pick<KeySetFetches, 'fetch'> | undefined
  /** Called when earlier decisions about tokens are no longer valid. */
  onReplaced(): void
  onFetched(issuer: string, isSuccess: boolean): void
  /** Called for each question about a token. */
  onAsked(issuer: string, outcome: IntrospectionOutcome): void
}

export function openIssuers(options: IssuersOptions): Issuers {
  const { issuers, verified } = options
  const own = openKeySetFetches(options.monotonic)
  const fetches = options.fetches ?? own

  function onReplaced(change: 'added' | 'removed'): void {
    if (change === 'removed') verified.clear()
    else verified.clearRefused()
    options.onReplaced()
  }

  const all = issuers.map((issuer) => ({
    options: issuer,
    keys:
      issuer.keys.kind === 'none'
        ? undefined
        : openIssuerKeys({
            ...options,
            issuer,
            fetches,
            onReplaced,
            onFetched: (isSuccess) => options.onFetched(issuer.name, isSuccess),
          }),
    introspection:
      issuer.introspection &&
      createIntrospection({
        ...options,
        issuer,
        endpoint: issuer.introspection,
        onAsked: (outcome) => options.onAsked(issuer.name, outcome),
      }),
  }))
  const names = new Set(issuers.map(({ name }) => name))

  return {
    all,
    has: (name) => names.has(name),
    states: () =>
      all.map(({ options: { name }, keys, introspection }) => {
        const state = keys?.state()
        const isUp = state?.isUp !== false && introspection?.isUp() !== false
        return { issuer: name, keys: state?.keys, isUp }
      }),
    settled: async () => void (await Promise.all(all.map(({ keys }) => keys?.settled()))),
    close: () => {
      for (const { keys } of all) keys?.close()
      own.close()
    },
  }
}

export interface ForeignIssuer {
  readonly options: IssuerOptions
  /** undefined = it is asked about all of its tokens. */
  readonly keys: Pick<IssuerKeys, 'find' | 'refetch'> | undefined
  /** undefined = it is not asked. */
  readonly introspection: Introspection | undefined
}
