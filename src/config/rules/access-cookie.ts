import type { Review } from '../review.ts'
import { isAtOrBelow, reviewCookieName } from './browsers.ts'

type RouteTree = Review['tree']['routes'][number]

const path = ['accessCookie']

/** Reports an access cookie that browsers would drop, and routes that take it but can never get it. */
export function reviewAccessCookie(review: Review): void {
  if (!review.hasValidShape(path) || !review.isValid([...path, 'enabled'])) return
  const { enabled } = review.tree.accessCookie
  if (enabled) reviewName(review)
  if (!review.hasValidShape(['routes'])) return
  for (const [index, route] of review.tree.routes.entries()) {
    if (review.isValid(['routes', index, 'browser'])) reviewRoute(review, index, route)
  }
}

function reviewName(review: Review): void {
  reviewCookieName(review, path, review.tree.accessCookie)
  if (!review.isValid([...path, 'name'])) return
  const { accessCookie, cookie } = review.tree
  const at = [...path, 'name']
  if (review.isValid(['cookie', 'name']) && accessCookie.name.toLowerCase() === cookie.name.toLowerCase())
    review.report(at, `"${accessCookie.name}" is the name of the refresh cookie too`)
}

function reviewRoute(review: Review, index: number, route: RouteTree): void {
  const at = (option: 'cookie' | 'signIn') => ['routes', index, 'browser', option]
  const { cookie, signIn } = route.browser
  if (cookie) {
    const problem = cookieProblem(review, index, route)
    if (problem !== undefined) review.report(at('cookie'), problem)
  }
  if (signIn) {
    const problem = signInProblem(review, index, route)
    if (problem !== undefined) review.report(at('signIn'), problem)
  }
}

function cookieProblem(
  review: Review,
  index: number,
  { auth, path: routePath }: RouteTree,
): string | undefined {
  const { accessCookie } = review.tree
  if (!accessCookie.enabled) return 'needs accessCookie: { enabled: true }'
  if (review.isValid(['routes', index, 'auth'])) {
    if (auth === 'none') return 'cannot be combined with auth: none, which looks at no credential'
    if (auth === 'secretKey')
      return 'holds an access token, which auth: secretKey does not accept: use bearer or any'
  }
  const isKnown = review.isValid([...path, 'path']) && review.isValid(['routes', index, 'path'])
  if (!isKnown || isAtOrBelow(routePath, accessCookie.path)) return undefined
  return `never gets the cookie: ${routePath} is not below ${accessCookie.path}, the path of accessCookie`
}

function signInProblem(review: Review, index: number, { auth, browser }: RouteTree): string | undefined {
  if (!browser.cookie) return 'needs cookie: true, as the sign-in ends with the access cookie'
  if (review.isValid(['portal', 'enabled']) && !review.tree.portal.enabled)
    return 'needs the portal: portal.enabled is false'
  const isOptional = review.isValid(['routes', index, 'auth']) && auth === 'optional'
  return isOptional ? 'cannot be combined with auth: optional, which allows anonymous requests' : undefined
}
