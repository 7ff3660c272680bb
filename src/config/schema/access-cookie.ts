import { isWildcard } from '#gateway/routes/hosts.ts'
import type { Warning } from '../problem.ts'
import { type BrowsersTree, cookiePath, isAtOrBelow, reviewCookieName } from './browsers.ts'
import { duration, flag, headerName, section } from './fields.ts'
import type { ValueOf } from './node.ts'
import type { portal } from './portal.ts'
import type { Review } from './review.ts'
import type { route } from './route.ts'

export const accessCookie = section(
  'Also sends the access token as an HttpOnly cookie, for routes with `browser.cookie`. After a sign-in at the portal it is renewed by requests in its second half. Its SameSite and Secure attributes are those of `cookie`.',
  {
    enabled: flag(false, 'Whether it is set with every access token, and by the sign-in of the portal.'),
    name: headerName({
      default: 'accessToken',
      description:
        'Its name; one that begins with __Host- or __Secure- must meet the rules of that prefix. No backend gets it, or can set it.',
    }),
    path: cookiePath('/', 'Path attribute: the routes with `browser.cookie` must be at or below it.'),
    lifetime: duration({
      min: '1s',
      max: '24h',
      default: '1h',
      description:
        'Lifetime of its token. A request in the second half of it renews the cookie, as long as the session lasts.',
    }),
  },
)

/** What the rules about the access cookie read. */
interface AccessCookieTree extends BrowsersTree {
  readonly accessCookie: ValueOf<typeof accessCookie>
  readonly portal: ValueOf<typeof portal>
  readonly routes: readonly RouteTree[]
}

type RouteTree = ValueOf<typeof route>

const sectionPath = ['accessCookie']

/** Reports an access cookie that browsers would drop, and routes that take it but can never get it. */
export function reviewAccessCookie(review: Review<AccessCookieTree>): void {
  if (!review.hasValidShape(sectionPath) || !review.isValid([...sectionPath, 'enabled'])) return
  if (review.tree.accessCookie.enabled) reviewName(review)
  if (!review.hasValidShape(['routes'])) return
  for (const [index, route] of review.tree.routes.entries()) {
    if (review.isValid(['routes', index, 'browser'])) reviewRoute(review, index, route)
  }
}

function reviewName(review: Review<AccessCookieTree>): void {
  reviewCookieName(review, sectionPath, review.tree.accessCookie)
  if (!review.isValid([...sectionPath, 'name'])) return
  const { accessCookie, cookie } = review.tree
  const at = [...sectionPath, 'name']
  if (review.isValid(['cookie', 'name']) && accessCookie.name.toLowerCase() === cookie.name.toLowerCase())
    review.report(at, `"${accessCookie.name}" is the name of the refresh cookie too`)
}

function reviewRoute(review: Review<AccessCookieTree>, index: number, route: RouteTree): void {
  const at = (option: 'cookie' | 'signIn') => ['routes', index, 'browser', option]
  const { cookie, signIn } = route.browser
  if (cookie) review.check(at('cookie'), () => cookieProblem(review, index, route))
  if (signIn) review.check(at('signIn'), () => signInProblem(review, index, route))
}

function cookieProblem(
  review: Review<AccessCookieTree>,
  index: number,
  { auth, path: routePath }: RouteTree,
): string | undefined {
  const { accessCookie } = review.tree
  if (!accessCookie.enabled) return 'needs accessCookie: { enabled: true }'
  if (review.isValid(['routes', index, 'auth'])) {
    if (auth === 'none' || auth === 'deny')
      return `cannot be combined with auth: ${auth}, which looks at no credential`
    if (auth === 'secretKey')
      return 'holds an access token, which auth: secretKey does not accept: use bearer or any'
  }
  const isKnown = review.isValid([...sectionPath, 'path']) && review.isValid(['routes', index, 'path'])
  if (!isKnown || isAtOrBelow(routePath, accessCookie.path)) return undefined
  return `never gets the cookie: ${routePath} is not below ${accessCookie.path}, the path of accessCookie`
}

function signInProblem(
  review: Review<AccessCookieTree>,
  index: number,
  { auth, browser, host }: RouteTree,
): string | undefined {
  if (!browser.cookie) return 'needs cookie: true, as the sign-in ends with the access cookie'
  if (review.isValid(['portal', 'enabled']) && !review.tree.portal.enabled)
    return 'needs the portal: portal.enabled is false'
  if (review.isValid(['routes', index, 'host']) && isWildcard(host) && review.tree.portal.host !== undefined)
    return 'cannot lead people back from portal.host to a wildcard: name the host of the route'
  const isOptional = review.isValid(['routes', index, 'auth']) && auth === 'optional'
  return isOptional ? 'cannot be combined with auth: optional, which allows anonymous requests' : undefined
}

/**
 * An access cookie that another host of the domain, or plain HTTP, can set, so that a person is signed in as somebody
 * else (cookie tossing). Name prefixes rule that out (RFC 6265bis 4.1.3), but need https.
 */
export function findTossableCookie({ accessCookie, publicUrl }: AccessCookieTree): Warning[] {
  const { enabled, name, path } = accessCookie
  const isHttps = URL.parse(publicUrl)?.protocol === 'https:'
  if (!enabled || !isHttps || /^__host-/i.test(name)) return []
  if (path !== '/' && /^__secure-/i.test(name)) return []
  const setter = 'other hosts of the domain can set a cookie of this name'
  const better =
    path === '/'
      ? `"__Host-${name.replace(/^__secure-/i, '')}" rules that out`
      : `"__Secure-${name}" at least prevents that over plain HTTP`
  return [{ path: ['accessCookie', 'name'], message: setter, hint: better }]
}
