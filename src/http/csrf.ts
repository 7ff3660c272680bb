import { hash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { GatehouseError } from '../errors.ts'

/** Name of the hidden field that every form of somebody signed in carries. */
export const csrfField = 'csrf'

/**
 * What a form must carry: derived from the token of the session, which no page and no other site knows, and
 * good as long as it is.
 */
export function csrfTokenOf(sessionToken: string): string {
  return hash('sha256', `csrf ${sessionToken}`, 'base64url')
}

/** @throws GatehouseError `cross-site-request` where the form does not carry the token of the session */
export function assertCsrfToken(sessionToken: string, given: string | undefined): void {
  const expected = Buffer.from(csrfTokenOf(sessionToken))
  const bytes = Buffer.from(given ?? '')
  if (bytes.length !== expected.length || !timingSafeEqual(bytes, expected)) {
    throw new GatehouseError('cross-site-request')
  }
}

/**
 * To be called before anything that changes something, signed in or not: a browser tells of which page a
 * request is (Sec-Fetch-Site, else Origin), and only a page of ours may make it. One that says neither is no
 * browser of the last years, and is refused too: a form always can.
 * @throws GatehouseError `cross-site-request`
 */
export function assertOwnOrigin({ headers }: FastifyRequest, publicOrigin: string): void {
  const site = headers['sec-fetch-site']
  if (site !== undefined ? site === 'same-origin' : headers.origin === publicOrigin) return
  throw new GatehouseError('cross-site-request')
}
