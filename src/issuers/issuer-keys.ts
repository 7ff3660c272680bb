import type { Log } from '../log/log.ts'
import type { Clock } from '../platform/clock.ts'
import { errorMessage } from '../platform/system-error.ts'
import { fetchTimeoutMs } from './fetch-json.ts'
import type { IssuerAlgorithm, IssuerOptions } from './issuer.ts'
import { loadKeys } from './load-keys.ts'
import type { PublicKey } from './public-keys.ts'

/** The public keys of one issuer, fetched in the background. */
export interface IssuerKeys {
  /** `never-had`: no keys could be fetched yet. `several`: the ID is not unique, or there is none. */
  find(kid: string | undefined, algorithm: IssuerAlgorithm): PublicKey | 'never-had' | 'unknown' | 'several'
  /**
   * Fetches the keys again for an unknown ID, at most once in `refetchGapMs`, whoever asks.
   * @returns once the keys are as new as may be, or after `waitMs`: whether they are those that the issuer has now
   */
  refetch(): Promise<boolean>
  /** Resolves once a fetch that is under way has ended, or after `waitMs`. */
  settled(): Promise<void>
  state(): IssuerState
  close(): void
}

/** What operators see of an issuer. */
export interface IssuerState {
  readonly issuer: string
  /** How many keys are known; 0 = none could be fetched yet. */
  readonly keys: number
  /** Whether the last fetch succeeded. */
  readonly isUp: boolean
}

export interface IssuerKeysOptions {
  readonly issuer: IssuerOptions
  readonly log: Pick<Log, 'info' | 'error'>
  /** Monotonic. */
  readonly monotonic: Clock
  /** Called when keys were fetched: `removed` = one that was known is none any more, or another. */
  onReplaced(change: 'added' | 'removed'): void
  /** Called for each fetch. */
  onFetched(isSuccess: boolean): void
  /** Whether the keys are fetched at once and refreshed; false = only by `refetch`. Default true. */
  readonly isRefreshed?: boolean
}

/** How often keys are fetched anyway: a key that the issuer withdraws is refused after this time at the latest. */
const refreshMs = 5 * 60_000
/** How soon a failed fetch is repeated: first, and at most, doubled in between. */
const retryMs = { first: 1_000, max: 30_000 }
/** The least time between two fetches for unknown IDs, which anybody can make up. */
export const refetchGapMs = 10_000
/** How long a request waits for a fetch. */
const waitMs = 1_000

export function openIssuerKeys(options: IssuerKeysOptions): IssuerKeys {
  const { issuer, log, monotonic, onReplaced, onFetched, isRefreshed = true } = options
  const abort = new AbortController()
  let keys: readonly PublicKey[] = []
  let isUp = false
  /** What was logged last. */
  let reported: 'up' | 'down' | undefined
  let fetching: Promise<void> | undefined
  let refetchedAt = Number.NEGATIVE_INFINITY
  let failures = 0
  let timer: NodeJS.Timeout | undefined

  function fetchOnce(): Promise<void> {
    fetching ??= fetchNow().finally(() => {
      fetching = undefined
      schedule()
    })
    return fetching
  }

  async function fetchNow(): Promise<void> {
    try {
      const loaded = await loadKeys(issuer, abort.signal)
      if (abort.signal.aborted) return
      recordSuccess(loaded)
    } catch (error) {
      if (!abort.signal.aborted) recordFailure(error)
    }
  }

  function recordSuccess(loaded: readonly PublicKey[]): void {
    const before = keys
    keys = loaded
    isUp = true
    failures = 0
    onFetched(true)
    const known = new Set(loaded.map(({ fingerprint }) => fingerprint))
    if (before.some(({ fingerprint }) => !known.has(fingerprint))) onReplaced('removed')
    else if (loaded.length > before.length) onReplaced('added')
    if (reported === 'down') log.info({ issuer: issuer.name }, 'keys of the issuer can be fetched again')
    reported = 'up'
  }

  function recordFailure(error: unknown): void {
    isUp = false
    failures++
    onFetched(false)
    if (reported !== 'down')
      log.error(
        { issuer: issuer.name, reason: errorMessage(error), keys: keys.length },
        keys.length > 0
          ? 'keys of the issuer cannot be fetched: those that are known stay valid'
          : 'keys of the issuer cannot be fetched: its tokens are answered 503',
      )
    reported = 'down'
  }

  function schedule(): void {
    if (!isRefreshed || abort.signal.aborted || issuer.keys.kind === 'file') return
    const delayMs = isUp ? refreshMs : Math.min(retryMs.first * 2 ** (failures - 1), retryMs.max)
    timer = setTimeout(() => void fetchOnce(), delayMs).unref()
  }

  async function refetch(): Promise<boolean> {
    if (issuer.keys.kind === 'file' && isUp) return true
    const now = monotonic()
    if (!fetching) {
      if (now - refetchedAt < refetchGapMs) return isUp
      refetchedAt = now
      clearTimeout(timer)
    }
    return withTimeout(
      fetchOnce().then(() => isUp),
      // Without refreshing there is one request, which has time.
      isRefreshed ? waitMs : 2 * fetchTimeoutMs,
    )
  }

  if (isRefreshed) void fetchOnce()

  return {
    find: (kid, algorithm) => {
      if (keys.length === 0) return 'never-had'
      const fitting = keys.filter(
        (key) => (kid === undefined || key.kid === kid) && key.algorithms.includes(algorithm),
      )
      const [only] = fitting
      if (only === undefined) return 'unknown'
      return fitting.length === 1 ? only : 'several'
    },
    refetch,
    settled: async () =>
      void (
        fetching &&
        (await withTimeout(
          fetching.then(() => true),
          waitMs,
        ))
      ),
    state: () => ({ issuer: issuer.name, keys: keys.length, isUp }),
    close: () => {
      clearTimeout(timer)
      abort.abort()
    },
  }
}

/** Resolves to false where the work takes too long; it goes on nevertheless. */
async function withTimeout(work: Promise<boolean>, timeoutMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), timeoutMs).unref()
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
