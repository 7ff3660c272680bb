import { METHODS } from 'node:http'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { GatehouseError } from '../../errors.ts'
import { errorPage } from '../../portal/door.ts'
import { assertCsrfToken, csrfField } from '../csrf.ts'
import { translateError } from '../fastify-errors.ts'
import { jsonBytesMax } from '../json-body.ts'
import { createProblem, prepareEarlyAnswer } from '../problem.ts'
import { accountPages } from './account-pages.ts'
import { accountsPages } from './accounts-pages.ts'
import { type Answer, sendPage, setSafeHeaders } from './answer.ts'
import { readAssets } from './assets.ts'
import { auditPages } from './audit-pages.ts'
import { doorPages } from './door-pages.ts'
import { acceptFormsOnly } from './form-body.ts'
import { createGate, isPost, viewerOf, wantsHtml } from './gate.ts'
import { integrationPages } from './integration-pages.ts'
import { createNotices } from './notices.ts'
import type { PortalOptions } from './options.ts'
import type { Pages, PortalPage } from './pages.ts'
import { profilePages } from './profile-pages.ts'
import { sessionsPages } from './sessions-pages.ts'
import { createVisit, signedIn } from './visit.ts'

const parts: readonly Pages[] = [
  ...[doorPages, integrationPages, sessionsPages, profilePages],
  ...[accountsPages, accountPages, auditPages],
]

/** The portal, in a scope of its own: everything at and below its path, for every method. */
export function registerPortal(scope: FastifyInstance, options: PortalOptions): void {
  const { path: base, cookie } = options
  const visitParts = { options, assets: readAssets(base), notices: createNotices(cookie) }
  const admit = createGate(visitParts)

  async function answer(page: PortalPage, request: FastifyRequest, reply: FastifyReply): Promise<Answer> {
    const viewer = viewerOf(request)
    const visit = createVisit(visitParts, { request, reply, viewer })
    if (isPost(request)) {
      const token = viewer ? cookie.read(request) : cookie.readFormToken(request)
      assertCsrfToken(token, visit.form(csrfField))
    }
    const method = isPost(request) ? 'post' : 'get'
    if (page.access === 'anyone') return page[method]?.(visit) ?? nothingThere()
    if (!viewer) throw new GatehouseError('credentials-missing')
    return page[method]?.(signedIn(visit, viewer, options)) ?? nothingThere()
  }

  function send(reply: FastifyReply, answered: Answer): FastifyReply {
    switch (answered.kind) {
      case 'page':
        return sendPage(reply, answered)
      case 'redirect':
        if (answered.notice) visitParts.notices.leave(reply, answered.notice)
        return reply.redirect(base + answered.to, 303)
      case 'data':
        return reply.send(answered.data)
      case 'file': {
        const { name, type, chunks } = answered
        const headers = { 'Content-Type': type, 'Content-Disposition': `attachment; filename="${name}"` }
        return reply.headers(headers).send(chunks)
      }
      default:
        return answered satisfies never
    }
  }

  function fail(cause: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    // The body broke off, and whoever noticed has answered.
    if (reply.sent) return reply
    const error = translateError(cause)
    const { status, headers, body } = createProblem(request.raw, error)
    prepareEarlyAnswer(request.raw, reply.raw)
    reply.headers(headers)
    if (!wantsHtml(request)) return reply.code(status).send(Buffer.from(body))
    const { title, detail } = error
    const requestId = String(headers['X-Request-Id'])
    const visit = createVisit(visitParts, { request, reply, viewer: viewerOf(request) })
    const page = visit.show((frame) => errorPage(frame, { title, detail, requestId }), {
      status,
      headers: {},
    })
    return sendPage(reply, page)
  }

  function sendAsset(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const asset = visitParts.assets.find(request.url)
    if (!asset) throw new GatehouseError('route-not-found')
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (!isRead) throw new GatehouseError('method-not-allowed', { allow: ['GET', 'HEAD'] })
    const { bytes, coding } = asset.encode(String(request.headers['accept-encoding'] ?? ''))
    return reply
      .headers({
        'Content-Type': asset.type,
        'Cache-Control': 'public, max-age=31536000, immutable',
        Vary: 'Accept-Encoding',
        ...(coding && { 'Content-Encoding': coding }),
      })
      .send(bytes)
  }

  acceptFormsOnly(scope)
  scope.addHook('onRequest', async (_request, reply) => setSafeHeaders(reply))
  scope.setErrorHandler(fail)
  for (const page of parts.flatMap((pages) => pages(options))) {
    scope.route({
      url: base + page.path,
      method: METHODS,
      bodyLimit: page.bytesMax ?? jsonBytesMax,
      onRequest: (request, reply) => admit(page, request, reply),
      handler: async (request, reply) => send(reply, await answer(page, request, reply)),
    })
  }
  const rest = { method: METHODS, handler: async () => nothingThere() }
  scope.route({
    ...rest,
    url: `${base}/assets/*`,
    onRequest: async (request, reply) => sendAsset(request, reply),
  })
  scope.route({ ...rest, url: `${base}/*`, onRequest: async () => nothingThere() })
}

function nothingThere(): never {
  throw new GatehouseError('route-not-found', { detail: 'There is no such page.' })
}
