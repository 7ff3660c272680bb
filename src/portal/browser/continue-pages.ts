import { destinationOf } from '../../http/outcome.ts'
import type { SignedInContext } from '../page-context.ts'
import { type CreatePages, queryOf } from '../portal-page.ts'
import { leaveTo, type PortalResponse, redirectTo } from '../portal-response.ts'
import { startPath } from '../safe-redirect-path.ts'

/**
 * Where a page visit comes by that had no credential: who is signed in gets new cookies, and goes back to the page. The
 * page was chosen by whoever made the link, and may be any that a link could name by itself.
 */
export const continuePages: CreatePages = ({ signIn, cookie, isReturnPath }) => {
  async function continueToPage(context: SignedInContext): Promise<PortalResponse> {
    const { request, viewer, visitor } = context
    const to = queryOf(context)('to')
    const { hostName } = destinationOf(request.arrival.outcome)
    if (isReturnPath?.(to, hostName) !== true) return redirectTo(startPath)
    const tokens = await signIn.renewTokens(viewer, visitor)
    if (tokens === undefined) {
      // Its session was ended, by an Admin or with all others: this browser is to be signed out.
      await signIn.signOut(viewer, visitor)
      cookie.clear(request)
      const next = encodeURIComponent(request.url.slice(cookie.path.length))
      return redirectTo(`/sign-in?next=${next}`, 'session-over')
    }
    cookie.setTokens(request, tokens)
    return leaveTo(to)
  }

  return [{ path: '/continue', get: continueToPage }]
}
