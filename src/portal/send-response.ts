import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { translateError } from '../endpoints/fastify-errors.ts'
import { sendFile } from '../endpoints/send-file.ts'
import { GatehouseError } from '../errors/gatehouse-error.ts'
import { applyReplyKeepAlive, createProblem } from '../http/problem.ts'
import { errorText, type RequestEffect } from './error-text.ts'
import { createPageContext, type PortalParts } from './page-context.ts'
import { acceptsHtml, isPost, viewerOf } from './portal-gate.ts'
import { isPublic, paramOf, type RegisteredPage, resolveFormPagePath } from './portal-page.ts'
import { type PortalResponse, sendPage } from './portal-response.ts'
import type { PortalAssets } from './read-assets.ts'
import { errorPage, type RecoveryLink } from './views/sign-in.ts'

export function sendResponse(
  { options, notices }: PortalParts,
  reply: FastifyReply,
  response: PortalResponse,
): FastifyReply {
  switch (response.kind) {
    case 'page':
      return sendPage(reply, response)
    case 'redirect':
      if (response.notice) notices.set(reply, response.notice)
      return reply.redirect(options.path + response.to, 303)
    case 'data':
      return reply.send(response.data)
    case 'file':
      return sendFile(reply, response.file)
    default:
      return response satisfies never
  }
}

export interface FailedRequest {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** The requested page; undefined = there is no such page. */
  readonly registered: RegisteredPage | undefined
}

/** Sends an error: a page to a browser, problem+json to the script. */
export function sendError(
  parts: PortalParts,
  cause: FastifyError,
  { request, reply, registered }: FailedRequest,
): FastifyReply {
  // The body was aborted, and the error already sent.
  if (reply.sent) return reply
  const error = translateError(cause)
  const { title, detail } = errorText(error, effectOf(request, registered))
  const { status, headers, body } = createProblem(request.raw, withDetail(error, detail))
  applyReplyKeepAlive(request, reply)
  reply.headers(headers)
  if (!acceptsHtml(request)) return reply.code(status).send(Buffer.from(body))
  const requestId = String(headers['X-Request-Id'])
  const context = createPageContext(parts, { request, reply, viewer: viewerOf(request) })
  const content = {
    title,
    detail,
    requestId,
    recoveryLink: recoveryLink(error, { request, registered, base: parts.options.path }),
  }
  return sendPage(
    reply,
    context.show((frame) => errorPage(frame, content), { status, headers: {} }),
  )
}

function recoveryLink(
  { status, code }: GatehouseError,
  { request, registered, base }: Pick<FailedRequest, 'request' | 'registered'> & { readonly base: string },
): RecoveryLink | undefined {
  // The audit log links to deleted accounts, and is the only page that still shows them.
  const id = code === 'account-not-found' && paramOf({ request }, 'id')
  if (id) return { href: `${base}/audit?who=${encodeURIComponent(id)}`, text: 'Show in audit log' }
  if (status < 500) return undefined
  // A server error may be temporary; the start of the portal would fail too.
  const retryPath =
    registered && isPost(request) ? base + resolveFormPagePath(request, registered) : request.url
  return { href: retryPath, text: 'Try again' }
}

/** Nothing is changed before the viewer is known, except by public pages. */
function effectOf(request: FastifyRequest, registered: RegisteredPage | undefined): RequestEffect {
  if (!isPost(request)) return 'read'
  return !registered || (!isPublic(registered.page) && !viewerOf(request)) ? 'nothing' : 'unknown'
}

/** The same error with another text. */
function withDetail(error: GatehouseError, detail: string | undefined): GatehouseError {
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
