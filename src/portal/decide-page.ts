import type { Viewer } from '#identity/portal/portal-sessions.ts'
import { needsSecondFactor, type SecondFactorPolicy } from '#identity/second-factor/policy.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { adminRole } from '#store/account.ts'
import { assertOwnOrigin } from './csrf.ts'
import { isForEnrolment, type PageAccess } from './page-access.ts'
import { acceptsHtml, isPageNavigation, isPost, type PortalHead } from './portal-request.ts'

/** What becomes of a request for a page, if it is not refused. */
export type PageDecision =
  /** The page is only the action of a form: a browser that navigates to it is redirected to the page with the form. */
  | 'form-page'
  /** Anyone may access the page. */
  | 'public'
  /** The viewer of the session may access the page. */
  | 'signed-in'
  /** There is no session: a browser is asked to sign in. */
  | 'sign-in'
  /** The viewer has to set up a second factor first. */
  | 'enrol'

export interface PageDecisionOptions {
  readonly publicOrigin: string
  /**
   * The viewer of the session that the request's cookie names; undefined where there is none. `unchecked`: there is a
   * cookie, but no one looks it up (`explain`), and the viewer's role is not checked either.
   */
  findViewer(): Promise<Viewer | 'unchecked' | undefined>
  /** Who must have a second factor. */
  readonly requireSecondFactor: SecondFactorPolicy
}

/**
 * Takes the steps of the portal up to the body, in their order: method, origin, session, audience. The portal and
 * `explain` both run it.
 * @throws GatehouseError `method-not-allowed`, `cross-site-request`, `role-forbidden`, `credentials-missing`, and what
 *   findViewer throws
 */
export async function decidePage(
  request: PortalHead,
  { path, access, methods }: PageAccess,
  { publicOrigin, findViewer, requireSecondFactor }: PageDecisionOptions,
): Promise<PageDecision> {
  if (!methods.includes(request.method)) {
    if (isPageNavigation(request)) return 'form-page'
    throw new GatehouseError('method-not-allowed', { allow: methods })
  }
  if (isPost(request)) assertOwnOrigin(request, publicOrigin)
  // For a public page too: it shows who is signed in.
  const viewer = await findViewer()
  if (access === 'anyone') return 'public'
  if (!viewer) {
    if (!acceptsHtml(request)) throw new GatehouseError('credentials-missing', { detail: 'Sign in again.' })
    return 'sign-in'
  }
  if (mustEnrol(viewer, requireSecondFactor) && !isForEnrolment(path)) {
    if (!acceptsHtml(request))
      throw new GatehouseError('credentials-missing', { detail: 'Set up two-factor sign-in first.' })
    return 'enrol'
  }
  if (access === 'admin' && viewer !== 'unchecked' && viewer.account.role !== adminRole) {
    throw new GatehouseError('role-forbidden')
  }
  return 'signed-in'
}

function mustEnrol(viewer: Viewer | 'unchecked', policy: SecondFactorPolicy): boolean {
  return viewer !== 'unchecked' && needsSecondFactor(viewer.account, policy)
}
