import { adminRole } from '../accounts/account-input.ts'
import type { Viewer } from '../auth/portal-sessions.ts'
import { GatehouseError } from '../errors/gatehouse-error.ts'
import { html } from '../pages/html.ts'
import { assertOwnOrigin } from './csrf.ts'
import { allowedMethods, audienceOf } from './page-access.ts'
import type { PortalParts } from './page-context.ts'
import { type RegisteredPage, resolveFormPagePath } from './portal-page.ts'
import type { PortalRequest } from './portal-request.ts'
import { answerPage, answerRedirect, type PortalAnswer } from './portal-response.ts'

const viewers = new WeakMap<PortalRequest, Viewer>()

/** The signed-in viewer, set by the gate. */
export function viewerOf(request: PortalRequest): Viewer | undefined {
  return viewers.get(request)
}

export function isPost({ method }: Pick<PortalRequest, 'method'>): boolean {
  return method === 'POST'
}

/** Whether a browser navigates to a page. */
export function isPageNavigation(request: Pick<PortalRequest, 'method' | 'headers'>): boolean {
  return (request.method === 'GET' || request.method === 'HEAD') && acceptsHtml(request)
}

/** Whether HTML is wanted, as by a browser, rather than data, as by the script. */
export function acceptsHtml({ headers }: Pick<PortalRequest, 'headers'>): boolean {
  return headers.accept?.includes('text/html') === true
}

/**
 * Decides all that can be decided before a byte of the body is read.
 * @returns the response, if it is already decided
 * @throws GatehouseError `method-not-allowed`, `cross-site-request`, `role-forbidden`, `credentials-missing`,
 *   `rate-limited`
 */
export function createPortalGate({ options, notices }: Pick<PortalParts, 'options' | 'notices'>) {
  const { path: base, cookie, signIn, publicOrigin } = options

  async function findViewer(request: PortalRequest): Promise<Viewer | undefined> {
    const token = cookie.read(request)
    if (token === undefined) return undefined
    const viewer = await signIn.find(token, request.visitor)
    if (viewer) {
      viewers.set(request, viewer)
      return viewer
    }
    viewers.delete(request)
    cookie.clear(request)
    if (acceptsHtml(request) && !isPost(request)) notices.set(request, 'session-over')
    return undefined
  }

  /** Redirects to the sign-in page, and afterwards back to the page, or to the page with the form. */
  function redirectToSignIn(registered: RegisteredPage, request: PortalRequest): PortalAnswer {
    if (!acceptsHtml(request)) throw new GatehouseError('credentials-missing', { detail: 'Sign in again.' })
    if (isCrossSiteNavigation(request)) return refreshPage(request)
    if (isPost(request) && cookie.read(request) !== undefined) notices.set(request, 'session-over')
    const next = isPost(request) ? resolveFormPagePath(request, registered) : request.url.slice(base.length)
    const query = next.length < 2 ? '' : `?next=${encodeURIComponent(next)}`
    return answerRedirect(`${base}/sign-in${query}`)
  }

  return async function admit(
    registered: RegisteredPage,
    request: PortalRequest,
  ): Promise<PortalAnswer | undefined> {
    const { page } = registered
    const methods = allowedMethods(page.path)
    if (!methods.includes(request.method)) {
      if (isPageNavigation(request)) return redirectToFormPage(registered, request)
      throw new GatehouseError('method-not-allowed', { allow: methods })
    }
    if (isPost(request)) assertOwnOrigin(request, publicOrigin)
    const viewer = await findViewer(request)
    const audience = audienceOf(page.path)
    if (audience === 'anyone') return undefined
    if (!viewer) return redirectToSignIn(registered, request)
    if (audience === 'admin' && viewer.account.role !== adminRole) throw new GatehouseError('role-forbidden')
    return undefined
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

function refreshPage({ url }: PortalRequest): PortalAnswer {
  const page = html`<!doctype html><html lang="en"><meta charset="utf-8"><title>Gatehouse</title><meta http-equiv="refresh" content="0;url=${url}"><a href="${url}">Continue</a>`
  return answerPage({ kind: 'page', html: page, nonce: 'none', status: 200, headers: {} })
}
