import { errorMessage } from '#platform/errors/operator-error.ts'
import { isRecord } from '#platform/json.ts'
import type { MonotonicClock, MonotonicMs } from '#platform/time.ts'
import { fetchJson } from './fetch-json.ts'
import { isSecureUrl } from './issuer.ts'

/** The result of a fetch: a document, or the reason why there is none, in words for the log. */
export type KeySetOutcome = KeySet | { readonly failure: string }

/** The answer to a request for keys. */
export interface FetchedKeySet {
  readonly outcome: KeySetOutcome
  /** How long ago the fetch began, in milliseconds. */
  readonly ageMs: number
  /** How long keys are not fetched again for an unknown ID; 0 = another fetch may begin now. */
  readonly pauseMs: number
  /** Whether the fetch was made for another request. */
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

/** @param monotonic milliseconds */
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

async function discoverKeysUrl(issuer: string, aborted: AbortSignal): Promise<string> {
  const { url, metadata } = await discoverServer(issuer, aborted)
  const { jwks_uri: keysUrl } = metadata
  if (typeof keysUrl !== 'string' || !isSecureUrl(keysUrl))
    throw new Error(`${url}: its jwks_uri is not an https:// URL`)
  return keysUrl
}

/** The metadata of an issuer, which says of itself that it is that issuer. */
interface ServerMetadata {
  /** Where it was found. */
  readonly url: string
  readonly metadata: Readonly<Record<string, unknown>>
}

/**
 * Uses OpenID Connect Discovery 1.0, or RFC 8414 if the issuer is only an OAuth server.
 * @throws Error, in words for the log
 */
async function discoverServer(issuer: string, aborted?: AbortSignal): Promise<ServerMetadata> {
  const [first, second] = discoveryUrls(issuer)
  const found = await fetchJson(first, { signal: aborted })
  if (found.status === 200) return serverMetadata(found.json, issuer, first)
  const other = await fetchJson(second, { signal: aborted })
  if (other.status === 200) return serverMetadata(other.json, issuer, second)
  throw new Error(`${first}: status ${found.status}, and ${second}: status ${other.status}`)
}

/**
 * OpenID Connect appends its path to that of the issuer (Discovery 1.0, 4); RFC 8414 inserts its own before it (3.1).
 */
export function discoveryUrls(issuer: string): readonly [string, string] {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  return [
    `${origin}${path}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${path}`,
  ]
}

function serverMetadata(metadata: unknown, issuer: string, url: string): ServerMetadata {
  if (!isRecord(metadata)) throw new Error(`${url}: it is no JSON object`)
  // Otherwise one issuer could serve the keys of another (Discovery 1.0, 4.3; RFC 8414 3.3).
  if (metadata.issuer !== issuer) throw new Error(`${url}: its issuer is not exactly ${issuer}`)
  return { url, metadata }
}

/** Where people sign in at an issuer, and where clients get its tokens. */
export interface SignInEndpoints {
  readonly authorization: string
  readonly token: string
  /** Whether each of its authorization responses names it in `iss` (RFC 9207 3). */
  readonly namesItself: boolean
}

/** @throws Error, in words for the log, if they are not known and cannot be discovered now */
export type FindSignInEndpoints = () => Promise<SignInEndpoints>

/** How long the endpoints are used before they are discovered again. */
const endpointsFreshMs = 5 * 60_000
/** How long a failure to discover them holds. */
const endpointsRetryMs = 10_000

/**
 * Discovers the endpoints of an issuer when they are needed. Simultaneous requests share one fetch; what was discovered
 * stays valid while the issuer cannot be reached.
 * @param monotonic milliseconds
 */
export function createSignInEndpointLookup(issuer: string, monotonic: MonotonicClock): FindSignInEndpoints {
  let known: SignInEndpoints | undefined
  let failure: unknown
  let fetching: Promise<void> | undefined
  let nextAt = Number.NEGATIVE_INFINITY

  async function fetchNow(): Promise<void> {
    try {
      known = await discoverSignInEndpoints(issuer)
      nextAt = monotonic() + endpointsFreshMs
    } catch (error) {
      failure = error
      nextAt = monotonic() + endpointsRetryMs
    }
  }

  return async function findSignInEndpoints() {
    if (monotonic() >= nextAt) {
      fetching ??= fetchNow().finally(() => {
        fetching = undefined
      })
      await fetching
    }
    if (!known) throw failure
    return known
  }
}

async function discoverSignInEndpoints(issuer: string): Promise<SignInEndpoints> {
  const { url, metadata } = await discoverServer(issuer)
  const { authorization_endpoint: authorization, token_endpoint: token } = metadata
  if (!isEndpoint(authorization)) throw new Error(`${url}: its authorization_endpoint is not an https:// URL`)
  if (!isEndpoint(token)) throw new Error(`${url}: its token_endpoint is not an https:// URL`)
  return {
    authorization,
    token,
    namesItself: metadata.authorization_response_iss_parameter_supported === true,
  }
}

/** A URL without a fragment (RFC 6749 3.1, 3.2). */
function isEndpoint(value: unknown): value is string {
  return typeof value === 'string' && isSecureUrl(value) && !value.includes('#')
}
