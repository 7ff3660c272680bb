import { isRecord } from '#platform/json.ts'
import { fetchJson } from './fetch-json.ts'

/** Where the keys of an issuer are. */
export interface KeySetLocation {
  readonly issuer: string
  /** undefined = by discovery. */
  readonly url?: string | undefined
}

/** A document that should be a JSON Web Key Set, as it was received. */
export interface KeySet {
  /** undefined = it comes from a file. */
  readonly url: string | undefined
  readonly document: unknown
}

/**
 * Gets the current key set of an issuer.
 * @throws Error, in words for the log
 */
export async function fetchKeySet(
  { issuer, url: configuredUrl }: KeySetLocation,
  aborted: AbortSignal,
): Promise<KeySet> {
  const url = configuredUrl ?? (await discoverKeysUrl(issuer, aborted))
  const { status, json } = await fetchJson(url, aborted)
  if (status !== 200) throw new Error(`${url}: status ${status}`)
  return { url, document: json }
}

/** By OpenID Connect Discovery 1.0, or by RFC 8414 where the issuer is only an OAuth server. */
async function discoverKeysUrl(issuer: string, aborted: AbortSignal): Promise<string> {
  const [first, second] = discoveryUrls(issuer)
  const found = await fetchJson(first, aborted)
  if (found.status === 200) return keysUrlOf(found.json, issuer, first)
  const other = await fetchJson(second, aborted)
  if (other.status === 200) return keysUrlOf(other.json, issuer, second)
  throw new Error(`${first}: status ${found.status}, and ${second}: status ${other.status}`)
}

/** OpenID Connect adds its path to that of the issuer (Discovery 1.0, 4); RFC 8414 puts its own before (3.1). */
export function discoveryUrls(issuer: string): readonly [string, string] {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  return [
    `${origin}${path}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${path}`,
  ]
}

function keysUrlOf(metadata: unknown, issuer: string, url: string): string {
  if (!isRecord(metadata)) throw new Error(`${url}: it is no JSON object`)
  // Otherwise one issuer could hand out the keys of another (Discovery 1.0, 4.3; RFC 8414 3.3).
  if (metadata.issuer !== issuer) throw new Error(`${url}: its issuer is not exactly ${issuer}`)
  const { jwks_uri: keysUrl } = metadata
  if (typeof keysUrl !== 'string' || !isSecureUrl(keysUrl))
    throw new Error(`${url}: its jwks_uri is no https:// URL`)
  return keysUrl
}

const loopbackHost = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/

/** Whether what is fetched from a URL cannot be changed on the way: https, or this machine. */
export function isSecureUrl(text: string): boolean {
  const url = URL.parse(text)
  if (!url || url.username || url.password) return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && loopbackHost.test(url.hostname))
}
