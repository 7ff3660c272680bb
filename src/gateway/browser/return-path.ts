import type { OwnPaths } from '../routes/own-paths.ts'
import { parseRequestTarget, type RequestTarget } from '../routes/request-target.ts'
import type { RouteTable } from '../routes/table.ts'

/** In characters, encoded: it comes back encoded once more, and a sign-in elsewhere keeps it in a sealed cookie. */
export const returnPathLengthMax = 1_000

/** Below the portal: it gives the browser its access cookie, and leads it back. */
export const continuePath = '/continue'

/** Room for the host of the page and the digest of a key, in the query of `continuePath`. */
export const handOverQueryLengthMax = 330

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

/** The path and query to come back to, as a value of a query; where it is too long without the query, or empty. */
export function encodedReturnPath({ sentPath, query }: Pick<RequestTarget, 'sentPath' | 'query'>): string {
  const candidates = [sentPath + query, sentPath].map(encodeQueryValue)
  return candidates.find(({ length }) => length <= returnPathLengthMax) ?? ''
}

function encodeQueryValue(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
  })
}
