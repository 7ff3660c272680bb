import { createHash } from 'node:crypto'
import { valuesOf } from '#http/request-head.ts'
import { targetIdLength } from '#http/upstream/target-ids.ts'
import { type CookieAttributes, cookieAttributes } from '#platform/http.ts'
import { decodeBytes } from '#platform/text.ts'

/** Recognises the gateway's own cookies in requests and responses. */
export interface OwnCookies {
  /** A Cookie header without them, however they are spelled; empty where nothing is left. */
  remove(header: string): string
  /** Whether a Cookie header may contain one of them, and so needs a closer look. */
  mayBeIn(header: string): boolean
  /** Whether a Set-Cookie of a backend would set one of them. */
  isSetBy(setCookie: string): boolean
}

interface OwnCookieNames {
  /** Never forwarded, nor set by a backend. Case counts, as in browsers (RFC 6265 4.1.1). */
  readonly names: readonly string[]
  /** More such names, regardless of case, as some backends ignore it. */
  readonly anyCase?: readonly string[]
  /** Cookies that may belong to a backend, but are not forwarded with a value that `isOwn`. */
  readonly others?: readonly { readonly name: string; isOwn(value: string): boolean }[]
}

/**
 * Compares names as backends may read them: `anyCase` without case (ASP.NET), all of them decoded (PHP before 7.4.11,
 * CVE-2020-7070), quoted, and after a comma as well as a semicolon (RFC 2109).
 */
export function createOwnCookies({ names, anyCase = [], others = [] }: OwnCookieNames): OwnCookies {
  const exact = new Set(names)
  const folded = new Set(anyCase.map((name) => name.toLowerCase()))
  const byName = new Map(others.map(({ name, isOwn }) => [name, isOwn]))
  const all = [...exact, ...folded, ...byName.keys()].map((name) => name.replaceAll(/[^\w]/g, '\\$&'))
  const mayHaveOwn = new RegExp(`${all.join('|')}|%`, 'i')

  const isOwnName = (name: string) => exact.has(name) || folded.has(name.toLowerCase())

  function isOwnPair(pair: string): boolean {
    const end = pair.indexOf('=')
    const name = plainName(end === -1 ? pair : pair.slice(0, end))
    return isOwnName(name) || byName.get(name)?.(pair.slice(end + 1).trim()) === true
  }

  return {
    mayBeIn: (header) => mayHaveOwn.test(header),
    remove: (header) => {
      if (!mayHaveOwn.test(header)) return header
      const pairs = header.split(';')
      const kept = pairs.filter((pair) => !pair.split(',').some(isOwnPair))
      return kept.length === pairs.length ? header : kept.join(';').trim()
    },
    isSetBy: (setCookie) => {
      const [pair = ''] = setCookie.split(';', 1)
      // Browsers send a cookie without a name as its value alone, so `=name=value` is sent as `name=value`.
      const named = pair.replace(/^[\s=]+/, '')
      const end = named.indexOf('=')
      return isOwnName(plainName(end === -1 ? named : named.slice(0, end)))
    },
  }
}

function plainName(name: string): string {
  const plain = name.trim().replaceAll('"', '')
  return plain.includes('%') ? decodeBytes(plain) : plain
}

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

/** How many IDs are read: a client has one for each route whose path its request is below. */
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
