import type { Viewer } from '#identity/portal/portal-sessions.ts'
import { decidePage } from './decide-page.ts'
import { pageAccessOf } from './page-access.ts'
import type { PortalParts } from './page-context.ts'
import { type RegisteredPage, resolveFormPagePath } from './portal-page.ts'
import { acceptsHtml, isPost, type PortalRequest } from './portal-request.ts'
import { answerContinue, answerRedirect, type PortalAnswer } from './portal-response.ts'

/**
 * Decides all that can be decided before a byte of the body is read.
 * @returns the response, if it is already decided
 * @throws GatehouseError `method-not-allowed`, `cross-site-request`, `role-forbidden`, `credentials-missing`,
 *   `rate-limited`
 */
export function createPortalGate({ options, notices }: Pick<PortalParts, 'options' | 'notices'>) {
  const { path: base, cookie, signIn, origin, requireSecondFactor } = options

  async function findViewer(request: PortalRequest): Promise<Viewer | undefined> {
    const token = cookie.read(request)
    if (token === undefined) return undefined
    request.viewer = await signIn.find(token, request.visitor)
    if (request.viewer) return request.viewer
    cookie.clear(request)
    if (acceptsHtml(request) && !isPost(request)) notices.set(request, 'session-over')
    return undefined
  }

  /** Redirects to the sign-in page, and afterwards back to the page, or to the page with the form. */
  function redirectToSignIn(registered: RegisteredPage, request: PortalRequest): PortalAnswer {
    if (isCrossSiteNavigation(request)) return answerContinue(request.url)
    if (isPost(request) && cookie.read(request) !== undefined) notices.set(request, 'session-over')
    const next = isPost(request) ? resolveFormPagePath(request, registered) : request.url.slice(base.length)
    const query = next.length < 2 ? '' : `?next=${encodeURIComponent(next)}`
    return answerRedirect(`${base}/sign-in${query}`)
  }

  return async function admit(
    registered: RegisteredPage,
    request: PortalRequest,
  ): Promise<PortalAnswer | undefined> {
    const decision = await decidePage(request, pageAccessOf(registered.page.path), {
      publicOrigin: origin,
      requireSecondFactor,
      findViewer: () => findViewer(request),
    })
    switch (decision) {
      case 'form-page':
        return redirectToFormPage(registered, request)
      case 'sign-in':
        return redirectToSignIn(registered, request)
      case 'enrol':
        return answerRedirect(`${base}/profile/two-factor`)
      case 'public':
      case 'signed-in':
        return undefined
      default:
        return decision satisfies never
    }
  }

  /** The response to a form is shown at the form's action path: a GET of that path is redirected to the form's page. */
  function redirectToFormPage(registered: RegisteredPage, request: PortalRequest): PortalAnswer {
    return answerRedirect(base + resolveFormPagePath(request, registered))
  }

  /** SameSite=Strict: on a cross-site link the browser omits the cookie, and sends it on the reload by our own page. */
  function isCrossSiteNavigation(request: PortalRequest): boolean {
    const site = request.headers['sec-fetch-site']
    return !isPost(request) && (site === 'cross-site' || site === 'same-site') && !cookie.read(request)
  }
}
