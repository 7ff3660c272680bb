import type { FastifyReply, FastifyRequest } from 'fastify'
import { adminRole } from '../../accounts/account-input.ts'
import type { Viewer } from '../../auth/sign-in.ts'
import { GatehouseError } from '../../errors.ts'
import { html } from '../../pages/html.ts'
import { prepareEarlyAnswer } from '../problem.ts'
import { visitorOf } from '../visitor.ts'
import { sendPage } from './answer.ts'
import { assertOwnOrigin } from './csrf.ts'
import { formHome, methodsOf, type PageAtHome } from './pages.ts'
import { audienceOf } from './plans.ts'
import type { VisitParts } from './visit.ts'

const key = Symbol('viewer')

/** The viewer that the gate found to be signed in. */
export function viewerOf(request: FastifyRequest): Viewer | undefined {
  // The cast is sound: only the gate writes this key.
  return (request as { [key]?: Viewer | undefined })[key]
}

export function isPost({ method }: FastifyRequest): boolean {
  return method === 'POST'
}

/** Whether a browser asks for a page. */
export function isLook(request: Pick<FastifyRequest, 'method' | 'headers'>): boolean {
  return (request.method === 'GET' || request.method === 'HEAD') && wantsHtml(request)
}

/** Whether HTML is asked for, as by a browser, rather than data by the script. */
export function wantsHtml({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  return headers.accept?.includes('text/html') === true
}

/**
 * Decides all that can be decided before a byte of the body is read.
 * @returns the reply if the request has been answered
 * @throws GatehouseError `method-not-allowed`, `cross-site-request`, `role-forbidden`, `credentials-missing`,
 *   `rate-limited`
 */
export function createPortalGate({ options, notices }: Pick<VisitParts, 'options' | 'notices'>) {
  const { path: base, cookie, signIn, publicOrigin } = options

  async function findViewer(request: FastifyRequest, reply: FastifyReply): Promise<Viewer | undefined> {
    const token = cookie.read(request)
    if (token === undefined) return undefined
    const viewer = await signIn.find(token, visitorOf(request))
    Object.assign(request, { [key]: viewer })
    if (!viewer) {
      cookie.clear(reply)
      if (wantsHtml(request) && !isPost(request)) notices.leave(reply, 'session-over')
    }
    return viewer
  }

  /** Leads to the sign-in, and afterwards back to the page, or to the page of the form. */
  function askToSignIn(place: PageAtHome, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    if (!wantsHtml(request)) throw new GatehouseError('credentials-missing', { detail: 'Sign in again.' })
    if (isLinkFromElsewhere(request)) return leadOn(request, reply)
    if (isPost(request) && cookie.read(request) !== undefined) notices.leave(reply, 'session-over')
    const next = isPost(request) ? formHome(request, place) : request.url.slice(base.length)
    const query = next.length < 2 ? '' : `?next=${encodeURIComponent(next)}`
    prepareEarlyAnswer(request.raw, reply.raw)
    return reply.redirect(`${base}/sign-in${query}`, 303)
  }

  return async function admit(
    place: PageAtHome,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply | undefined> {
    const { page } = place
    const methods = methodsOf(page)
    if (!methods.includes(request.method)) {
      if (isLook(request)) return leadToForm(place, request, reply)
      throw new GatehouseError('method-not-allowed', { allow: methods })
    }
    if (isPost(request)) assertOwnOrigin(request, publicOrigin)
    const viewer = await findViewer(request, reply)
    const audience = audienceOf(page.path)
    if (audience === 'anyone') return undefined
    if (!viewer) return askToSignIn(place, request, reply)
    if (audience === 'admin' && viewer.account.role !== adminRole) throw new GatehouseError('role-forbidden')
    return undefined
  }

  /** The answer to a form is shown at the form's path: a reload by GET leads to the page of the form. */
  function leadToForm(place: PageAtHome, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    prepareEarlyAnswer(request.raw, reply.raw)
    return reply.redirect(base + formHome(request, place), 303)
  }

  /** For a link on another site the browser holds back the cookie; it sends it when a page of ours leads on. */
  function isLinkFromElsewhere(request: FastifyRequest): boolean {
    const site = request.headers['sec-fetch-site']
    return !isPost(request) && (site === 'cross-site' || site === 'same-site') && !cookie.read(request)
  }
}

function leadOn({ url }: FastifyRequest, reply: FastifyReply): FastifyReply {
  const page = html`<!doctype html><html lang="en"><meta charset="utf-8"><title>Gatehouse</title><meta http-equiv="refresh" content="0;url=${url}"><a href="${url}">Continue</a>`
  return sendPage(reply, { kind: 'page', html: page, nonce: 'none', status: 200, headers: {} })
}
