import { needsSecondFactor, type SecondFactorPolicy } from '#identity/second-factor/second-factors.ts'
import type { Viewer } from '#identity/tokens/issued-tokens.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { adminRole } from '#store/accounts.ts'
import { assertOwnOrigin } from './forms/csrf.ts'
import { isForEnrolment, type PageAccess, pageAccessOf } from './page-access.ts'
import type { PortalParts } from './page-context.ts'
import { type RegisteredPage, resolveFormPagePath } from './portal-page.ts'
import {
  acceptsHtml,
  isPageNavigation,
  isPost,
  languageOf,
  type PortalHead,
  type PortalRequest,
} from './portal-request.ts'
import { answerContinue, answerRedirect, type PortalResponse } from './portal-response.ts'

/**
 * Creates `Portal.admit`, which rejects with the errors below.
 * @throws GatehouseError `method-not-allowed`, `cross-site-request`, `role-forbidden`, `credentials-missing`
 */
export function createPortalGate({ options, notices }: Pick<PortalParts, 'options' | 'notices'>) {
  const { path: base, cookies, signIn, origin, requireSecondFactor } = options

  async function findViewer(request: PortalRequest): Promise<Viewer | undefined> {
    const token = cookies.readSession(request)
    if (token === undefined) return undefined
    request.viewer = await signIn.find(token, request.visitor)
    if (request.viewer) return request.viewer
    cookies.clearSession(request)
    if (acceptsHtml(request) && !isPost(request)) notices.set(request, 'session-over')
    return undefined
  }

  /** Redirects to the sign-in page, and from there back to the page, or to the page with the form. */
  function redirectToSignIn(registered: RegisteredPage, request: PortalRequest): PortalResponse {
    if (isCrossSiteNavigation(request)) return answerContinue(request.url, languageOf(request, undefined))
    if (isPost(request) && cookies.readSession(request) !== undefined) notices.set(request, 'session-over')
    const next = isPost(request) ? resolveFormPagePath(request, registered) : request.url.slice(base.length)
    const query = next.length < 2 ? '' : `?next=${encodeURIComponent(next)}`
    return answerRedirect(`${base}/sign-in${query}`)
  }

  return async function admit(
    registered: RegisteredPage,
    request: PortalRequest,
  ): Promise<PortalResponse | undefined> {
    const decision = await decidePage(request, pageAccessOf(registered.page.path), {
      publicOrigin: origin,
      requireSecondFactor,
      findViewer: () => findViewer(request),
    })
    switch (decision) {
      case 'form-page':
        // The browser's address is the action of a form, as after the form was submitted: show the page with the form.
        return answerRedirect(base + resolveFormPagePath(request, registered))
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

  /** On a link of another site, browsers omit the cookie (SameSite=Strict) until our own page loads the URL again. */
  function isCrossSiteNavigation(request: PortalRequest): boolean {
    const site = request.headers['sec-fetch-site']
    return (
      !isPost(request) && (site === 'cross-site' || site === 'same-site') && !cookies.readSession(request)
    )
  }
}

/** The decision about a request that is not refused. */
export type PageDecision =
  /** The page is only the action of a form: a browser that navigates to it is redirected to the page with the form. */
  | 'form-page'
  | 'public'
  /** The viewer of the session may access the page. */
  | 'signed-in'
  /** There is no session: a browser is asked to sign in. */
  | 'sign-in'
  /** The viewer has to set up a second factor first. */
  | 'enrol'

interface PageDecisionOptions {
  readonly publicOrigin: string
  /**
   * The viewer of the session that the request's cookie names; undefined where there is none. `unchecked`: there is a
   * cookie, but it is not looked up (`explain`), and so the viewer's role is not checked either.
   */
  findViewer(): Promise<Viewer | 'unchecked' | undefined>
  readonly requireSecondFactor: SecondFactorPolicy
}

/**
 * Takes the portal's steps before the body, in their order: method, origin, session, audience. Used by the portal and
 * `explain`.
 * @throws GatehouseError `method-not-allowed`, `cross-site-request`, `role-forbidden`, `credentials-missing`, and what
 * findViewer throws
 */
export async function decidePage(
  request: PortalHead,
  { path, audience, methods }: PageAccess,
  { publicOrigin, findViewer, requireSecondFactor }: PageDecisionOptions,
): Promise<PageDecision> {
  if (!methods.includes(request.method)) {
    if (isPageNavigation(request)) return 'form-page'
    throw new GatehouseError('method-not-allowed', { allow: methods })
  }
  if (isPost(request)) assertOwnOrigin(request, publicOrigin)
  // Also for a public page, as it shows who is signed in.
  const viewer = await findViewer()
  if (audience === 'anyone') return 'public'
  if (!viewer) {
    if (!acceptsHtml(request)) throw new GatehouseError('credentials-missing', { detail: 'Sign in again.' })
    return 'sign-in'
  }
  if (mustEnrol(viewer, requireSecondFactor) && !isForEnrolment(path)) {
    if (!acceptsHtml(request))
      throw new GatehouseError('credentials-missing', { detail: 'Set up two-factor sign-in first.' })
    return 'enrol'
  }
  if (audience === 'admin' && viewer !== 'unchecked' && viewer.account.role !== adminRole) {
    throw new GatehouseError('role-forbidden')
  }
  return 'signed-in'
}

function mustEnrol(viewer: Viewer | 'unchecked', policy: SecondFactorPolicy): boolean {
  return viewer !== 'unchecked' && needsSecondFactor(viewer.account, policy)
}
