import type { FastifyReply, FastifyRequest } from 'fastify'
import { adminRole } from '../accounts/account-input.ts'
import type { Viewer } from '../auth/sign-in.ts'
import { visitorOf } from '../endpoints/visitor.ts'
import { GatehouseError } from '../errors/gatehouse-error.ts'
import { applyKeepAlive } from '../http/problem.ts'
import { html } from '../pages/html.ts'
import { assertOwnOrigin } from './csrf.ts'
import { audienceOf } from './page-access.ts'
import type { PortalParts } from './page-context.ts'
import { methodsOf, type RegisteredPage, resolveFormPagePath } from './portal-page.ts'
import { sendPage } from './portal-response.ts'

const viewerKey = Symbol('viewer')

/** The signed-in viewer, set by the gate. */
export function viewerOf(request: FastifyRequest): Viewer | undefined {
  // The cast is sound: only the gate writes this key.
  return (request as { [viewerKey]?: Viewer | undefined })[viewerKey]
}

export function isPost({ method }: FastifyRequest): boolean {
  return method === 'POST'
}

/** Whether a browser navigates to a page. */
export function isPageNavigation(request: Pick<FastifyRequest, 'method' | 'headers'>): boolean {
  return (request.method === 'GET' || request.method === 'HEAD') && acceptsHtml(request)
}

/** Whether HTML is wanted, as by a browser, rather than data, as by the script. */
export function acceptsHtml({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  return headers.accept?.includes('text/html') === true
}

/**
 * Decides all that can be decided before a byte of the body is read.
 * @returns the reply if the request has been answered
 * @throws GatehouseError `method-not-allowed`, `cross-site-request`, `role-forbidden`, `credentials-missing`,
 *   `rate-limited`
 */
export function createPortalGate({ options, notices }: Pick<PortalParts, 'options' | 'notices'>) {
  const { path: base, cookie, signIn, publicOrigin } = options

  async function findViewer(request: FastifyRequest, reply: FastifyReply): Promise<Viewer | undefined> {
    const token = cookie.read(request)
    if (token === undefined) return undefined
    const viewer = await signIn.find(token, visitorOf(request))
    Object.assign(request, { [viewerKey]: viewer })
    if (!viewer) {
      cookie.clear(reply)
      if (acceptsHtml(request) && !isPost(request)) notices.set(reply, 'session-over')
    }
    return viewer
  }

  /** Redirects to the sign-in page, and afterwards back to the page, or to the page with the form. */
  function redirectToSignIn(
    registered: RegisteredPage,
    request: FastifyRequest,
    reply: FastifyReply,
  ): FastifyReply {
    if (!acceptsHtml(request)) throw new GatehouseError('credentials-missing', { detail: 'Sign in again.' })
    if (isCrossSiteNavigation(request)) return sendRefreshPage(request, reply)
    if (isPost(request) && cookie.read(request) !== undefined) notices.set(reply, 'session-over')
    const next = isPost(request) ? resolveFormPagePath(request, registered) : request.url.slice(base.length)
    const query = next.length < 2 ? '' : `?next=${encodeURIComponent(next)}`
    applyKeepAlive(request.raw, reply.raw)
    return reply.redirect(`${base}/sign-in${query}`, 303)
  }

  return async function admit(
    registered: RegisteredPage,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply | undefined> {
    const { page } = registered
    const methods = methodsOf(page)
    if (!methods.includes(request.method)) {
      if (isPageNavigation(request)) return redirectToFormPage(registered, request, reply)
      throw new GatehouseError('method-not-allowed', { allow: methods })
    }
    if (isPost(request)) assertOwnOrigin(request, publicOrigin)
    const viewer = await findViewer(request, reply)
    const audience = audienceOf(page.path)
    if (audience === 'anyone') return undefined
    if (!viewer) return redirectToSignIn(registered, request, reply)
    if (audience === 'admin' && viewer.account.role !== adminRole) throw new GatehouseError('role-forbidden')
    return undefined
  }

  /** The response to a form is shown at the form's action path: a GET of that path is redirected to the form's page. */
  function redirectToFormPage(
    registered: RegisteredPage,
    request: FastifyRequest,
    reply: FastifyReply,
  ): FastifyReply {
    applyKeepAlive(request.raw, reply.raw)
    return reply.redirect(base + resolveFormPagePath(request, registered), 303)
  }

  /** SameSite=Strict: on a cross-site link the browser omits the cookie, and sends it on the reload by our own page. */
  function isCrossSiteNavigation(request: FastifyRequest): boolean {
    const site = request.headers['sec-fetch-site']
    return !isPost(request) && (site === 'cross-site' || site === 'same-site') && !cookie.read(request)
  }
}

function sendRefreshPage({ url }: FastifyRequest, reply: FastifyReply): FastifyReply {
  const page = html`<!doctype html><html lang="en"><meta charset="utf-8"><title>Gatehouse</title><meta http-equiv="refresh" content="0;url=${url}"><a href="${url}">Continue</a>`
  return sendPage(reply, { kind: 'page', html: page, nonce: 'none', status: 200, headers: {} })
}
