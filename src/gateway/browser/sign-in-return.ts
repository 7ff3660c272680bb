import { hash } from 'node:crypto'
import { cookieAttributes } from '#platform/http.ts'
import { randomText } from '#platform/secrets/key-format.ts'
import type { OwnPaths } from '../routes/own-paths.ts'
import { parseRequestTarget, type RequestTarget } from '../routes/request-target.ts'
import type { RouteTable } from '../routes/table.ts'
import { cookieValuesIn } from './browser-fields.ts'

/**
 * In characters, once encoded. There has to be a bound, as the path is encoded once more on the way back, and an
 * external sign-in keeps it in a sealed cookie.
 */
export const returnPathLengthMax = 1_000

/** A path below the portal that gives the browser its access cookie and leads back to the page. */
export const continuePath = '/continue'

/** Room in the query of `continuePath` for the host of the page and the digest of a key. */
export const continueQueryLengthMax = 330

/** Whether a person may be led to a path of this host after signing in. */
export type IsReturnPath = (path: string, hostName: string) => boolean

/**
 * Only to a page of a route with `browser.signIn`: never to another origin (`//host`, `/\host`, `https:`), however a
 * browser may read it, nor to a path of the gateway itself.
 */
export function createReturnPathCheck(
  table: Pick<RouteTable<unknown>, 'match'>,
  ownPaths: Pick<OwnPaths, 'has'>,
): IsReturnPath {
  return function isReturnPath(path, hostName) {
    // Visible ASCII: browsers remove tabs and line breaks, and take a backslash for a slash.
    if (path.length > returnPathLengthMax || !/^\/(?![/\\])[!-[\]-~]*$/.test(path)) return false
    const target = parseRequestTarget(path)
    if (!target || ownPaths.has(target.path, hostName)) return false
    const match = table.match(hostName, target, 'GET')
    return match.kind === 'route' && match.route.browser?.signIn === true
  }
}

/** The path and query to return to, encoded as a query value; without the query if it would be too long, or empty. */
export function encodedReturnPath({ sentPath, query }: Pick<RequestTarget, 'sentPath' | 'query'>): string {
  const candidates = [sentPath + query, sentPath].map(encodeQueryValue)
  return candidates.find(({ length }) => length <= returnPathLengthMax) ?? ''
}

function encodeQueryValue(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
  })
}

/**
 * Binds a sign-in on another host to the browser that began it: a random key in a cookie of the page's host, of which
 * the other host learns only the digest (as in PKCE, RFC 7636).
 */
export interface ReturnKeys {
  /** The key of the browser, or a new one. */
  readOrCreate(rawHeaders: readonly string[]): ReturnKey
  /** undefined where the browser has none, or more than one: another host of the domain may have set one. */
  read(rawHeaders: readonly string[]): string | undefined
  /** The Set-Cookie value that removes it. */
  readonly cleared: string
}

interface ReturnKey {
  readonly challenge: string
  /** The Set-Cookie field line of the response. */
  readonly line: string
}

const plainName = 'gatehouse-return'
/** Never sent to a backend, nor set by one. */
export const returnCookieNames: readonly string[] = [plainName, `__Host-${plainName}`]

const keyLength = 43
const keyPattern = /^[0-9A-Za-z]{43}$/
const challengePattern = /^[\w-]{43}$/
/** Time to sign in, with a provider and a second factor. */
const maxAgeS = 600

/** @param isSecure whether publicUrl is https: then no other host can set the cookie */
export function createReturnKeys(isSecure: boolean): ReturnKeys {
  const name = isSecure ? `__Host-${plainName}` : plainName
  // Lax: the browser comes back from another host, which may be of another site.
  const attributes = cookieAttributes({ path: '/', sameSite: 'Lax', isSecure })

  function read(rawHeaders: readonly string[]): string | undefined {
    const [key, ...others] = cookieValuesIn(rawHeaders, name)
    return others.length === 0 && key !== undefined && keyPattern.test(key) ? key : undefined
  }

  return {
    read,
    // Several tabs share it, so that none of them spoils the sign-in of another.
    readOrCreate: (rawHeaders) => {
      const key = read(rawHeaders) ?? randomText(keyLength)
      return {
        challenge: challengeOf(key),
        line: `Set-Cookie: ${name}=${key}; Max-Age=${maxAgeS}${attributes}\r\n`,
      }
    },
    cleared: `${name}=; Max-Age=0${attributes}`,
  }
}

export function challengeOf(key: string): string {
  return hash('sha256', key, 'base64url')
}

export function isChallenge(text: string): boolean {
  return challengePattern.test(text)
}
