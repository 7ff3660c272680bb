import type { MonotonicClock } from '#platform/time.ts'
import { isSecureUrl } from './issuer.ts'
import { discoverServer } from './key-set-fetches.ts'

/** Where people sign in at an issuer, and where clients get its tokens. */
export interface SignInEndpoints {
  readonly authorization: string
  readonly token: string
  /** Whether each of its authorization responses names it in `iss` (RFC 9207 3). */
  readonly namesItself: boolean
}

/** @throws Error, in words for the log, if they are not known and cannot be discovered now */
export type FindSignInEndpoints = () => Promise<SignInEndpoints>

/** How long they are used before they are discovered again. */
const refreshMs = 5 * 60_000
/** How long a failure holds. */
const retryMs = 10_000

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
      nextAt = monotonic() + refreshMs
    } catch (error) {
      failure = error
      nextAt = monotonic() + retryMs
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
