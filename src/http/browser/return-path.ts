import type { OwnPaths } from '../../routes/own-paths.ts'
import { parseRequestTarget } from '../../routes/request-target.ts'
import type { RouteTable } from '../../routes/table.ts'

/** In characters: it is encoded twice on its way, in a head of `limits.headers`, and sealed in a cookie. */
export const returnPathLengthMax = 800

/** Below the portal: it gives the browser its access cookie, and leads it back. */
export const continuePath = '/continue'

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
    if (!target || ownPaths.has(target.path)) return false
    const match = table.match(hostName, target, 'GET')
    return match.kind === 'route' && match.route.browser?.signIn === true
  }
}

/** The path and query to come back to, as a value of a query; empty where it is too long: then the query is left out. */
export function encodedReturnPath({
  sentPath,
  query,
}: {
  readonly sentPath: string
  readonly query: string
}): string {
  const path = sentPath.length + query.length > returnPathLengthMax ? sentPath : sentPath + query
  if (path.length > returnPathLengthMax) return ''
  return encodeURIComponent(path).replaceAll(/[!'()*]/g, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
  })
}
