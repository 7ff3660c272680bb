import { errorMessage } from '#platform/errors/operator-error.ts'
import type { MonotonicClock, MonotonicMs } from '#platform/time.ts'
import { fetchJson } from './fetch-json.ts'
import { discoverKeysUrl } from './issuer-discovery.ts'

/** The result of a fetch: a document, or the reason why there is none, in words for the log. */
export type KeySetOutcome = KeySet | { readonly failure: string }

/** The answer to a request for keys. */
export interface FetchedKeySet {
  readonly outcome: KeySetOutcome
  /** How long ago the fetch began, in milliseconds. */
  readonly ageMs: number
  /** For how long from now keys are not fetched again because of an unknown ID; 0 = another fetch may begin. */
  readonly pauseMs: number
  /** Whether it is the result of a fetch that another request began. */
  readonly isShared: boolean
}

/** Why keys are fetched: because it is time to, or because a token names an unknown key. */
export type FetchReason = 'refresh' | 'unknown-key'

/** Fetches key sets of issuers, for all workers. */
export interface KeySetFetches {
  /**
   * Simultaneous requests share one fetch. For unknown keys there is at most one in `refetchGapMs`, and requests in
   * between get its result. Never rejects.
   */
  fetch(location: KeySetLocation, reason: FetchReason): Promise<FetchedKeySet>
  /** Aborts all fetches in progress. */
  close(): void
}

/** The minimum time between two fetches for unknown IDs, which anybody can invent. */
export const refetchGapMs = 10_000
/** How old a shared result of a refresh may be: the workers of an instance refresh at about the same time. */
const sharedForMs = 500

interface Fetch {
  readonly beganAt: MonotonicMs
  readonly outcome: Promise<KeySetOutcome>
  isOver: boolean
}

interface LocationState {
  latest: Fetch
  /** When the latest fetch for an unknown key began. */
  refetchedAt: MonotonicMs
}

export function openKeySetFetches(monotonic: MonotonicClock): KeySetFetches {
  const abort = new AbortController()
  const states = new Map<string, LocationState>()

  function begin(location: KeySetLocation): Fetch {
    const outcome = fetchKeySet(location, abort.signal).catch((error: unknown) => ({
      failure: errorMessage(error),
    }))
    const begun: Fetch = { beganAt: monotonic(), outcome, isOver: false }
    void outcome.then(() => {
      begun.isOver = true
    })
    return begun
  }

  /** Locations that are no longer in the config are dropped. */
  function prune(now: MonotonicMs): void {
    for (const [key, { latest }] of states)
      if (latest.isOver && now - latest.beganAt > refetchGapMs) states.delete(key)
  }

  async function fetchOrShare(location: KeySetLocation, reason: FetchReason): Promise<FetchedKeySet> {
    const now = monotonic()
    const key = JSON.stringify([location.issuer, location.url])
    const known = states.get(key)
    const isShared = known !== undefined && mayShare(known, reason, now)
    const latest = isShared ? known.latest : begin(location)
    const isRefetch = reason === 'unknown-key' && !isShared
    const refetchedAt = isRefetch ? now : (known?.refetchedAt ?? Number.NEGATIVE_INFINITY)
    prune(now)
    states.set(key, { latest, refetchedAt })
    const outcome = await latest.outcome
    const endedAt = monotonic()
    const pauseMs = Math.max(0, (states.get(key)?.refetchedAt ?? refetchedAt) + refetchGapMs - endedAt)
    return { outcome, ageMs: endedAt - latest.beganAt, pauseMs, isShared }
  }

  return { fetch: fetchOrShare, close: () => abort.abort() }
}

function mayShare({ latest, refetchedAt }: LocationState, reason: FetchReason, now: MonotonicMs): boolean {
  if (!latest.isOver) return true
  return reason === 'unknown-key' ? now - refetchedAt < refetchGapMs : now - latest.beganAt < sharedForMs
}

/** Where the keys of an issuer are. */
export interface KeySetLocation {
  readonly issuer: string
  /** undefined = by discovery. */
  readonly url?: string | undefined
}

/** A document that should be a JSON Web Key Set, as it was received. */
interface KeySet {
  /** undefined = it comes from a file. */
  readonly url: string | undefined
  readonly document: unknown
}

/**
 * Gets the current key set of an issuer.
 * @throws Error, in words for the log
 */
async function fetchKeySet(
  { issuer, url: configuredUrl }: KeySetLocation,
  aborted: AbortSignal,
): Promise<KeySet> {
  const url = configuredUrl ?? (await discoverKeysUrl(issuer, aborted))
  const { status, json } = await fetchJson(url, { signal: aborted })
  if (status !== 200) throw new Error(`${url}: status ${status}`)
  return { url, document: json }
}
