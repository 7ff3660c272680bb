import { isRecord } from '#platform/json.ts'
import type { MonotonicClock } from '#platform/time.ts'
import { fetchJson } from './fetch-json.ts'
import { isSecureUrl } from './issuer.ts'

/** @throws Error, in words for the log */
export async function discoverKeysUrl(issuer: string, aborted: AbortSignal): Promise<string> {
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
