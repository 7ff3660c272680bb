import { createHash } from 'node:crypto'
import { valuesOf } from '#http/request-head.ts'
import { targetIdLength } from '#http/upstream/target.ts'
import { type CookieAttributes, cookieAttributes } from '#platform/cookie-attributes.ts'

/** The cookies that name the targets of clients, of upstreams with `balancing: sticky`. */
export interface StickyCookies {
  /** The IDs of targets that a client has been given for an upstream; the most specific path comes first. */
  read(rawHeaders: readonly string[], upstream: string): readonly string[]
  /** The field line that gives a client the ID of its target, ended by CR LF. @param path of its route */
  lineFor(upstream: string, id: string, path: string): string
}

/** As of the refresh cookie. */
type StickyCookieOptions = Pick<CookieAttributes, 'sameSite' | 'isSecure'>

/** Each upstream has a cookie of its own, so that two on one path do not take the client's from each other. */
export function stickyCookieName(upstream: string): string {
  return `gatehouse-target-${createHash('sha256').update(upstream).digest('hex').slice(0, 8)}`
}

/** A client has one for each route whose path leads to its request: more are not looked at. */
const idsMax = 4

/** @param upstreams their names; none = undefined */
export function createStickyCookies(
  upstreams: readonly string[],
  { sameSite, isSecure }: StickyCookieOptions,
): StickyCookies | undefined {
  if (upstreams.length === 0) return undefined
  const names = new Map(upstreams.map((upstream) => [upstream, stickyCookieName(upstream)]))
  // Strict would lose the target with every link from another site, and it protects nothing here.
  const sent = sameSite === 'None' ? 'None' : 'Lax'

  function read(rawHeaders: readonly string[], upstream: string): readonly string[] {
    const start = `${names.get(upstream)}=`
    return valuesOf(rawHeaders, 'cookie')
      .flatMap((value) => value.split(';'))
      .map((pair) => pair.trim())
      .filter((pair) => pair.length === start.length + targetIdLength && pair.startsWith(start))
      .slice(0, idsMax)
      .map((pair) => pair.slice(start.length))
  }

  return {
    read,
    lineFor: (upstream, id, path) =>
      `Set-Cookie: ${names.get(upstream)}=${id}${cookieAttributes({ path, sameSite: sent, isSecure })}\r\n`,
  }
}
