import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { GatehouseError } from '../../errors.ts'
import { errorPage, type WayOn } from '../../portal/door.ts'
import { translateError } from '../fastify-errors.ts'
import { createProblem, prepareEarlyReply } from '../problem.ts'
import { sendFile } from '../send-file.ts'
import { type Answer, sendPage } from './answer.ts'
import type { PortalAssets } from './assets.ts'
import { isPost, viewerOf, wantsHtml } from './gate.ts'
import { formHome, isOpen, type PageAtHome, paramOf } from './pages.ts'
import { createVisit, type VisitParts } from './visit.ts'
import { type Effect, portalWords } from './words.ts'

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
    case 'file':
      return sendFile(reply, answer.file)
    default:
      return answer satisfies never
  }
}

export interface Failed {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** The page that was asked for; undefined = there is no such page. */
  readonly place: PageAtHome | undefined
}

/** Answers with an error: as a page to a browser, as problem+json to the script. */
export function sendError(
  parts: VisitParts,
  cause: FastifyError,
  { request, reply, place }: Failed,
): FastifyReply {
  // The body broke off, and that has been answered already.
  if (reply.sent) return reply
  const error = translateError(cause)
  const { title, detail } = portalWords(error, effectOf(request, place))
  const { status, headers, body } = createProblem(request.raw, tell(error, detail))
  prepareEarlyReply(request, reply)
  reply.headers(headers)
  if (!wantsHtml(request)) return reply.code(status).send(Buffer.from(body))
  const requestId = String(headers['X-Request-Id'])
  const visit = createVisit(parts, { request, reply, viewer: viewerOf(request) })
  const told = { title, detail, requestId, way: wayOn(error, { request, place, base: parts.options.path }) }
  return sendPage(
    reply,
    visit.show((frame) => errorPage(frame, told), { status, headers: {} }),
  )
}

function wayOn(
  { status, code }: GatehouseError,
  { request, place, base }: Pick<Failed, 'request' | 'place'> & { readonly base: string },
): WayOn | undefined {
  // The audit log has links to deleted accounts, and only it knows what has happened to them.
  const id = code === 'account-not-found' && paramOf({ request }, 'id')
  if (id) return { href: `${base}/audit?who=${encodeURIComponent(id)}`, text: 'What happened to it' }
  if (status < 500) return undefined
  // A server error may be over in a moment; the start of the portal would fail too.
  const home = place && isPost(request) ? base + formHome(request, place) : request.url
  return { href: home, text: 'Try again' }
}

/** Nothing is done before the viewer is known, except on pages for anyone. */
function effectOf(request: FastifyRequest, place: PageAtHome | undefined): Effect {
  if (!isPost(request)) return 'looked'
  return !place || (!isOpen(place.page) && !viewerOf(request)) ? 'nothing' : 'unknown'
}

/** The same error with another text. */
function tell(error: GatehouseError, detail: string | undefined): GatehouseError {
  if (detail === undefined || detail === error.detail) return error
  return new GatehouseError(error.code, { cause: error.cause, detail })
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
