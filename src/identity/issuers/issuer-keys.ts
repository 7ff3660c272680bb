import { isInTime } from '#platform/deadline.ts'
import { errorMessage } from '#platform/errors/operator-error.ts'
import { parseJson } from '#platform/json.ts'
import type { Log } from '#platform/log/log.ts'
import type { MonotonicClock } from '#platform/time.ts'
import { fetchTimeoutMs } from './fetch-json.ts'
import type { IssuerAlgorithm, IssuerOptions } from './issuer.ts'
import type { FetchedKeySet, FetchReason, KeySetFetches, KeySetOutcome } from './issuer-fetches.ts'
import { type PublicKey, parsePublicKeys } from './public-keys.ts'

/** The public keys of one issuer, fetched in the background. */
export interface IssuerKeys {
  /** `never-had`: no keys could be fetched yet. `several`: the ID is missing or not unique. */
  find(kid: string | undefined, algorithm: IssuerAlgorithm): PublicKey | 'never-had' | 'unknown' | 'several'
  /**
   * Fetches the keys again for an unknown ID, at most once in `refetchGapMs` (issuer-fetches.ts), whoever asks.
   * Resolves once they are as new as possible, or after `waitMs`.
   * @returns whether they are the issuer's current ones
   */
  refetch(): Promise<boolean>
  /** Resolves once a fetch in progress has ended, or after `waitMs`. */
  settled(): Promise<void>
  state(): IssuerKeysState
  close(): void
}

/** What operators see of the keys of an issuer. */
interface IssuerKeysState {
  /** How many keys are known; 0 = none could be fetched yet. */
  readonly keys: number
  /** Whether the last fetch succeeded. */
  readonly isUp: boolean
}

export interface IssuerKeysOptions {
  readonly issuer: IssuerOptions
  readonly log: Pick<Log, 'info' | 'error'>
  readonly monotonic: MonotonicClock
  /** Called when keys were fetched. `removed`: a known key has disappeared or changed. */
  onReplaced(change: 'added' | 'removed'): void
  /** Called for each fetch that was made for these keys; not for results that are shared with other workers. */
  onFetched(isSuccess: boolean): void
  readonly fetches: Pick<KeySetFetches, 'fetch'>
  /** Whether the keys are fetched at once and refreshed; false = only by `refetch`. Default true. */
  readonly isRefreshed?: boolean
}

/** How often keys are refreshed: a key that the issuer withdraws is refused after this time at the latest. */
const refreshMs = 5 * 60_000
/** The delay before a failed fetch is repeated: the first, doubled each time up to the maximum. */
const retryMs = { first: 1_000, max: 30_000 }
/** How long a request waits for a fetch. */
const waitMs = 1_000

export function openIssuerKeys(options: IssuerKeysOptions): IssuerKeys {
  const { issuer, log, monotonic, onReplaced, onFetched, fetches, isRefreshed = true } = options
  let keys: readonly PublicKey[] = []
  let isUp = false
  /** The state that was logged last. */
  let reported: 'up' | 'down' | undefined
  let fetching: Promise<void> | undefined
  /** Until then keys are not fetched again because of an unknown ID. */
  let pausedUntil = Number.NEGATIVE_INFINITY
  let failures = 0
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  function fetchOnce(reason: FetchReason): Promise<void> {
    fetching ??= fetchNow(reason).finally(() => {
      fetching = undefined
    })
    return fetching
  }

  async function fetchNow(reason: FetchReason): Promise<void> {
    const { outcome, ageMs, pauseMs, isShared } = await load(reason)
    if (isClosed) return
    pausedUntil = monotonic() + pauseMs
    const loaded = parseKeys(outcome)
    if (!isShared) onFetched(!('failure' in loaded))
    if ('failure' in loaded) recordFailure(loaded.failure)
    else recordSuccess(loaded)
    schedule(ageMs)
  }

  async function load(reason: FetchReason): Promise<FetchedKeySet> {
    const { kind } = issuer.keys
    if (kind === 'file') {
      const outcome = { url: undefined, document: parseJson(issuer.keys.text) }
      return { outcome, ageMs: 0, pauseMs: 0, isShared: false }
    }
    const url = issuer.keys.kind === 'url' ? issuer.keys.url : undefined
    return fetches.fetch({ issuer: issuer.issuer, url }, reason)
  }

  function parseKeys(outcome: KeySetOutcome): readonly PublicKey[] | { readonly failure: string } {
    if ('failure' in outcome) return outcome
    try {
      return parsePublicKeys(outcome.document, issuer.algorithms)
    } catch (error) {
      const where = outcome.url === undefined ? '' : `${outcome.url}: `
      return { failure: where + errorMessage(error) }
    }
  }

  function recordSuccess(loaded: readonly PublicKey[]): void {
    const before = keys
    keys = loaded
    isUp = true
    failures = 0
    const known = new Set(loaded.map(({ fingerprint }) => fingerprint))
    if (before.some(({ fingerprint }) => !known.has(fingerprint))) onReplaced('removed')
    else if (loaded.length > before.length) onReplaced('added')
    if (reported === 'down') log.info({ issuer: issuer.name }, 'keys of the issuer can be fetched again')
    reported = 'up'
  }

  function recordFailure(reason: string): void {
    isUp = false
    failures++
    if (reported !== 'down')
      log.error(
        { issuer: issuer.name, reason, keys: keys.length },
        keys.length > 0
          ? 'keys of the issuer cannot be fetched: known keys stay valid'
          : 'keys of the issuer cannot be fetched: its tokens get 503',
      )
    reported = 'down'
  }

  /** @param ageMs how long ago the known keys were fetched, by this worker or another */
  function schedule(ageMs: number): void {
    clearTimeout(timer)
    if (!isRefreshed || issuer.keys.kind === 'file') return
    const delayMs = isUp ? refreshMs - ageMs : Math.min(retryMs.first * 2 ** (failures - 1), retryMs.max)
    timer = setTimeout(() => void fetchOnce('refresh'), Math.max(0, delayMs)).unref()
  }

  async function refetch(): Promise<boolean> {
    if (issuer.keys.kind === 'file' && isUp) return true
    if (!fetching && monotonic() < pausedUntil) return isUp
    // Whoever does not refresh keys has only one request, which can wait (`explain`).
    const isFetched = await isInTime(fetchOnce('unknown-key'), isRefreshed ? waitMs : 2 * fetchTimeoutMs)
    return isFetched && isUp
  }

  if (isRefreshed) void fetchOnce('refresh')

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
    settled: async () => {
      if (fetching) await isInTime(fetching, waitMs)
    },
    state: () => ({ keys: keys.length, isUp }),
    close: () => {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
