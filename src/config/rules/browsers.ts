import { everyOrigin } from '#gateway/arrival/cors-headers.ts'
import { isWildcard } from '#gateway/routes/hosts.ts'
import { parseOrigin } from '../hosts.ts'
import type { Path } from '../problem.ts'
import type { ConfigReview, ConfigTree } from '../schema/schema.ts'

/** The start of the names of the portal's own cookies, with or without a prefix. */
const portalNames = /^(?:__secure-|__host-)?gatehouse-/i

/** Reports a cookie that browsers would drop because it breaks the rules of its name (RFC 6265bis 4.1.3). */
export function reviewCookie(review: ConfigReview): void {
  if (!review.hasValidShape(['cookie'])) return
  const { cookie } = review.tree
  reviewCookieName(review, ['cookie'], cookie)
  const isValid = review.isValid(['cookie', 'sameSite'])
  if (isValid && cookie.sameSite === 'None' && !isSecureOrUnknown(review)) {
    review.report(['cookie', 'sameSite'], 'None needs secure: true, or an https publicUrl')
  }
}

/** Whether a browser sends a cookie of this path to all paths below another (RFC 6265bis 5.1.4). */
export function isAtOrBelow(path: string, cookiePath: string): boolean {
  if (cookiePath.endsWith('/')) return `${path}/`.startsWith(cookiePath)
  return `${path}/`.startsWith(`${cookiePath}/`)
}

/** Reports a name that the portal may use, or whose prefix requires attributes that the section's cookie lacks. */
function reviewCookieName(
  review: ConfigReview,
  section: Path,
  { name, path }: { readonly name: string; readonly path: string },
): void {
  const isValid = (field: string) => review.isValid([...section, field])
  if (isValid('name') && portalNames.test(name)) {
    review.report([...section, 'name'], `"${name}" could be a cookie of the portal: choose another name`)
  }
  if (isValid('name') && /^__(host|secure)-/i.test(name) && !isSecureOrUnknown(review)) {
    const secure = section[0] === 'cookie' ? 'secure: true' : 'cookie.secure: true'
    review.report([...section, 'name'], `"${name}" needs ${secure}, or an https publicUrl`)
  }
  if (isValid('name') && isValid('path') && /^__host-/i.test(name) && path !== '/') {
    review.report([...section, 'path'], `must be / for a name that begins with __Host-`)
  }
}

/** Whether the cookie is Secure, or may be, because the option that decides it is itself invalid. */
function isSecureOrUnknown({ tree, isValid }: ConfigReview): boolean {
  if (!isValid(['cookie', 'secure'])) return true
  const { secure } = tree.cookie
  if (secure !== 'auto') return secure
  return !isValid(['publicUrl']) || URL.parse(tree.publicUrl)?.protocol === 'https:'
}

/** Origins are exact, or `*` alone. */
export function reviewCors(review: ConfigReview): void {
  if (!review.hasValidShape(['cors', 'origins'])) return
  const seen = new Set<string>()
  for (const [index, text] of review.tree.cors.origins.entries()) {
    const path = ['cors', 'origins', index]
    if (!review.isValid(path)) continue
    if (text === everyOrigin) {
      if (review.tree.cors.origins.length > 1)
        review.report(path, 'stands for every origin, without cookies: it must be the only entry')
      continue
    }
    const origin = parseOrigin(text)
    if (origin === undefined) review.report(path, corsOriginProblem(text))
    else if (seen.has(origin)) review.report(path, `${origin} is already in the list`)
    else seen.add(origin)
  }
}

function corsOriginProblem(text: string): string {
  const form = 'an origin such as https://app.example.com'
  if (text.includes('*')) {
    return `must be ${form}: the only wildcard is * alone, which allows any origin, without cookies`
  }
  if (text.toLowerCase() === 'null') return `must be ${form}: any page can send the origin null`
  return `must be ${form}: a scheme, a host, a port where it has one, and no path`
}

type RouteTree = ConfigTree['routes'][number]

const path = ['accessCookie']

/** Reports an access cookie that browsers would drop, and routes that take it but can never get it. */
export function reviewAccessCookie(review: ConfigReview): void {
  if (!review.hasValidShape(path) || !review.isValid([...path, 'enabled'])) return
  const { enabled } = review.tree.accessCookie
  if (enabled) reviewName(review)
  if (!review.hasValidShape(['routes'])) return
  for (const [index, route] of review.tree.routes.entries()) {
    if (review.isValid(['routes', index, 'browser'])) reviewRoute(review, index, route)
  }
}

function reviewName(review: ConfigReview): void {
  reviewCookieName(review, path, review.tree.accessCookie)
  if (!review.isValid([...path, 'name'])) return
  const { accessCookie, cookie } = review.tree
  const at = [...path, 'name']
  if (review.isValid(['cookie', 'name']) && accessCookie.name.toLowerCase() === cookie.name.toLowerCase())
    review.report(at, `"${accessCookie.name}" is the name of the refresh cookie too`)
}

function reviewRoute(review: ConfigReview, index: number, route: RouteTree): void {
  const at = (option: 'cookie' | 'signIn') => ['routes', index, 'browser', option]
  const { cookie, signIn } = route.browser
  if (cookie) review.check(at('cookie'), () => cookieProblem(review, index, route))
  if (signIn) review.check(at('signIn'), () => signInProblem(review, index, route))
}

function cookieProblem(
  review: ConfigReview,
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
  const isKnown = review.isValid([...path, 'path']) && review.isValid(['routes', index, 'path'])
  if (!isKnown || isAtOrBelow(routePath, accessCookie.path)) return undefined
  return `never gets the cookie: ${routePath} is not below ${accessCookie.path}, the path of accessCookie`
}

function signInProblem(
  review: ConfigReview,
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
