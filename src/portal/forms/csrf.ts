import { hash } from 'node:crypto'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { hideSecrets } from '#platform/secrets/hide-secrets.ts'
import { isSameText } from '#platform/secrets/sealing.ts'
import type { PortalRequest } from '../portal-request.ts'

/** How much of a foreign origin is logged, in characters. */
const loggedOriginLengthMax = 100

/**
 * The token that a form must carry: derived from the token of a cookie, which no page and no other site knows, and
 * valid as long as that token.
 */
export function csrfTokenOf(cookieToken: string): string {
  return hash('sha256', `csrf ${cookieToken}`, 'base64url')
}

/** Whether a form carries the token of the cookie. */
export function isCsrfTokenOf(cookieToken: string | undefined, given: string): boolean {
  return cookieToken !== undefined && isSameText(csrfTokenOf(cookieToken), given)
}

/** Whether a text has the format of a CSRF token. */
export function looksLikeCsrfToken(given: string): boolean {
  return /^[\w-]{43}$/.test(given)
}

/**
 * To be called before every change, signed in or not: Sec-Fetch-Site, or else Origin, must say that the request comes
 * from a page of the portal. Over plain HTTP browsers send neither for pages without a Referer, such as ours (`Origin:
 * null`). The CSRF token then decides, with the cookie that it is derived from, which no other site can send.
 * @throws GatehouseError `cross-site-request`
 */
export function assertOwnOrigin({ headers }: Pick<PortalRequest, 'headers'>, publicOrigin: string): void {
  const { 'sec-fetch-site': site, origin, host } = headers
  if (site !== undefined) {
    if (site === 'same-origin') return
    throw crossSiteError(headers, publicOrigin)
  }
  if (origin === undefined || origin === 'null' || origin === publicOrigin) return
  // An origin that matches Host is as good as publicUrl, as a page can set neither header.
  if (host !== undefined && origin.replace(/^https?:\/\//, '') === host) return
  throw crossSiteError(headers, publicOrigin)
}

/** The error, with the reason for the log: usually the portal was opened at an address other than publicUrl. */
function crossSiteError(
  { origin, 'sec-fetch-site': site }: PortalRequest['headers'],
  publicOrigin: string,
): GatehouseError {
  const reason =
    origin === undefined || origin === publicOrigin
      ? `Sec-Fetch-Site is ${redactOrigin(String(site))}`
      : `Origin ${redactOrigin(origin)} is not publicUrl ${publicOrigin}`
  return new GatehouseError('cross-site-request', { cause: new Error(reason) })
}

/** The origin or Sec-Fetch-Site value, safe to log: a client may send anything. */
function redactOrigin(text: string): string {
  const hidden = hideSecrets(text)
  return (/^[a-z-]+$/.test(hidden) ? hidden : (URL.parse(hidden)?.origin ?? 'unreadable')).slice(
    0,
    loggedOriginLengthMax,
  )
}
