import { isSecureUrl, type RegisteredClient } from './issuer.ts'

/** Longer URIs are refused unread. */
const redirectUriLengthMax = 2_048
const visibleAscii = /^[!-~]+$/

/** Schemes that belong to no application: a browser would load or run their URIs itself. */
const browserSchemes: ReadonlySet<string> = new Set(
  ['http', 'ws', 'wss', 'ftp', 'file', 'data', 'blob', 'about', 'javascript', 'vbscript', 'view-source'].map(
    (name) => `${name}:`,
  ),
)

/**
 * Whether a text may be the redirect URI of a native application or a web one: https, http on this machine, or a scheme
 * of an application (RFC 8252 7), without a fragment (RFC 6749 3.1.2).
 */
export function isRedirectUri(text: string): boolean {
  if (text.length > redirectUriLengthMax || !visibleAscii.test(text) || text.includes('#')) return false
  const url = URL.parse(text)
  if (!url || url.username || url.password) return false
  return url.protocol === 'https:' || isLoopbackUrl(url) || !browserSchemes.has(url.protocol)
}

/** Whether a URI is one of the redirect URIs of a client. */
export type MayReturnTo = (asked: string) => boolean

/**
 * A URI must be exactly one of the client's; but on this machine it may have any port, as an application listens on a
 * free one (RFC 8252 7.3).
 */
export function createRedirectUriCheck({ redirectUris }: RegisteredClient): MayReturnTo {
  const allowed = new Set(redirectUris.map(withoutPort))
  return (asked) => isRedirectUri(asked) && allowed.has(withoutPort(asked))
}

/** Whether a URL leads to an application on this machine, by http (RFC 8252 7.3). */
export function isLoopbackUrl(url: URL): boolean {
  return url.protocol === 'http:' && isSecureUrl(url.href)
}

/** A redirect URI without its port if it leads to this machine; any other is returned unchanged. */
function withoutPort(text: string): string {
  const url = new URL(text)
  if (!isLoopbackUrl(url)) return text
  url.port = ''
  return url.href
}
