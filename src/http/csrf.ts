import { hash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { GatehouseError } from '../errors.ts'
import { hideSecrets } from '../hide-secrets.ts'

/** Longest origin of others that is written down. */
const shownMax = 100

/** Name of the hidden field that every form carries. */
export const csrfField = 'csrf'

/**
 * What a form must carry: derived from the token of a cookie, which no page and no other site knows, and good
 * as long as it is.
 */
export function csrfTokenOf(cookieToken: string): string {
  return hash('sha256', `csrf ${cookieToken}`, 'base64url')
}

/** Whether a form carries the token of the cookie. */
export function isCsrfTokenOf(cookieToken: string | undefined, given: string): boolean {
  const expected = Buffer.from(csrfTokenOf(cookieToken ?? ''))
  const bytes = Buffer.from(given)
  return cookieToken !== undefined && bytes.length === expected.length && timingSafeEqual(bytes, expected)
}

/** Whether it could be that of any cookie. */
export function looksLikeCsrfToken(given: string): boolean {
  return /^[\w-]{43}$/.test(given)
}

/**
 * To be called before anything that changes something, signed in or not: a browser tells of which page a
 * request is (Sec-Fetch-Site, else Origin), and only a page of ours may make it. Over plain HTTP it tells
 * neither of a page without Referer, as ours are (`Origin: null`): then the token of the form decides, with
 * the cookie it is derived from, which no other site can have sent.
 * @throws GatehouseError `cross-site-request`
 */
export function assertOwnOrigin({ headers }: Pick<FastifyRequest, 'headers'>, publicOrigin: string): void {
  const { 'sec-fetch-site': site, origin, host } = headers
  if (site !== undefined) {
    if (site === 'same-origin') return
    throw ofOtherSite(headers, publicOrigin)
  }
  if (origin === undefined || origin === 'null' || origin === publicOrigin) return
  // The name it was called by is as good as the published one: a page cannot choose either header.
  if (host !== undefined && origin.replace(/^https?:\/\//, '') === host) return
  throw ofOtherSite(headers, publicOrigin)
}

/** With the reason for the log: most often publicUrl is not where the portal was opened. */
function ofOtherSite(
  { origin, 'sec-fetch-site': site }: FastifyRequest['headers'],
  publicOrigin: string,
): GatehouseError {
  const reason =
    origin === undefined || origin === publicOrigin
      ? `Sec-Fetch-Site is ${shorten(String(site))}`
      : `Origin ${shorten(origin)} is not publicUrl ${publicOrigin}`
  return new GatehouseError('cross-site-request', { cause: new Error(reason) })
}

/** An origin, or a word, as far as it can be one: whoever sends it may write anything. */
function shorten(text: string): string {
  const hidden = hideSecrets(text)
  return (/^[a-z-]+$/.test(hidden) ? hidden : (URL.parse(hidden)?.origin ?? 'unreadable')).slice(0, shownMax)
}
