import { isChallenge } from '#gateway/browser/sign-in-return.ts'
import { destinationOf } from '#gateway/gate/outcome.ts'
import { handOverPath } from '#gateway/routes/route-urls.ts'
import type { SignedInContext } from '../page-context.ts'
import { type CreatePages, queryOf } from '../portal-page.ts'
import { continueTo, leaveTo, type PortalResponse, redirectTo } from '../portal-response.ts'
import { startPath } from '../safe-redirect-path.ts'

/**
 * Where a page visit comes by that had no credential: who is signed in gets new cookies, and goes back to the page. The
 * page was chosen by whoever made the link, and may be any that a link could name by itself.
 */
export const continuePages: CreatePages = ({ signIn, cookie, isReturnPath, handOver }) => {
  async function continueToPage(context: SignedInContext): Promise<PortalResponse> {
    const { request, viewer, visitor } = context
    const to = queryOf(context)('to')
    const { hostName } = destinationOf(request.arrival.outcome)
    if (isReturnPath?.(to, hostName) !== true) return redirectTo(startPath)
    const tokens = await signIn.renewTokens(viewer, visitor)
    if (tokens === undefined) return askAgain(context)
    cookie.setTokens(request, tokens)
    return leaveTo(to)
  }

  /** The session was ended, by an Admin or with all others: this browser is to be signed out. */
  async function askAgain({ request, viewer, visitor }: SignedInContext): Promise<PortalResponse> {
    await signIn.signOut(viewer, visitor)
    cookie.clear(request)
    const next = encodeURIComponent(request.url.slice(cookie.path.length))
    return redirectTo(`/sign-in?next=${next}`, 'session-over')
  }

  /** The page is on another host, which gets a code that only the browser that began the visit can use. */
  async function handOverToHost(context: SignedInContext): Promise<PortalResponse> {
    const query = queryOf(context)
    const page = { to: query('to'), hostName: query('host'), challenge: query('state') }
    const origin = handOver?.hosts.get(page.hostName)
    const isRight = isChallenge(page.challenge) && isReturnPath?.(page.to, page.hostName) === true
    if (!handOver || origin === undefined || !isRight) return redirectTo(startPath)
    if (!(await signIn.canResume(context.viewer, context.visitor))) return askAgain(context)
    const code = handOver.codes.create(context.viewer, page)
    // Not a redirect: browsers follow none to another host after the form of the sign-in (`form-action`).
    return continueTo(`${origin}${handOverPath}?code=${code}`)
  }

  return [{ path: '/continue', get: handOver ? handOverToHost : continueToPage }]
}
