import { Readable } from 'node:stream'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { GatehouseError } from '../../errors.ts'
import { errorPage } from '../../portal/door.ts'
import { translateError } from '../fastify-errors.ts'
import { createProblem, prepareEarlyAnswer } from '../problem.ts'
import { type Answer, sendPage } from './answer.ts'
import type { PortalAssets } from './assets.ts'
import { viewerOf, wantsHtml } from './gate.ts'
import { createVisit, type VisitParts } from './visit.ts'

export function sendAnswer(
  { options, notices }: VisitParts,
  reply: FastifyReply,
  answer: Answer,
): FastifyReply {
  switch (answer.kind) {
    case 'page':
      return sendPage(reply, answer)
    case 'redirect':
      if (answer.notice) notices.leave(reply, answer.notice)
      return reply.redirect(options.path + answer.to, 303)
    case 'data':
      return reply.send(answer.data)
    case 'file': {
      const { name, type, chunks } = answer
      const headers = { 'Content-Type': type, 'Content-Disposition': `attachment; filename="${name}"` }
      return reply.headers(headers).send(Readable.from(chunks))
    }
    default:
      return answer satisfies never
  }
}

/** Tells an error: to a person as a page, to a script as problem+json. */
export function sendError(
  parts: VisitParts,
  cause: FastifyError,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): FastifyReply {
  // The body broke off, and whoever noticed has answered.
  if (reply.sent) return reply
  const error = translateError(cause)
  const { status, headers, body } = createProblem(request.raw, error)
  prepareEarlyAnswer(request.raw, reply.raw)
  reply.headers(headers)
  if (!wantsHtml(request)) return reply.code(status).send(Buffer.from(body))
  const { title, detail } = error
  const requestId = String(headers['X-Request-Id'])
  const visit = createVisit(parts, { request, reply, viewer: viewerOf(request) })
  const page = visit.show((frame) => errorPage(frame, { title, detail, requestId }), { status, headers: {} })
  return sendPage(reply, page)
}

/** @throws GatehouseError `route-not-found`, `method-not-allowed` */
export function sendAsset(assets: PortalAssets, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const asset = assets.find(request.url)
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
