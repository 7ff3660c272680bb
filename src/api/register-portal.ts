import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { arrivalOf, visitorOf } from '#gateway/arrival/endpoint-arrival.ts'
import { ambiguousCookie, onlyCookieIn } from '#gateway/browser/browser-fields.ts'
import { applyKeepAlive } from '#gateway/refusals/send-problem.ts'
import { changePasswordPath, documentMethods, portalMethods } from '#gateway/routes/own-operations.ts'
import { parseForm } from '#portal/forms/body.ts'
import { type Portal, throwNotFound } from '#portal/portal.ts'
import type { FormFields, PortalRequest } from '#portal/portal-request.ts'
import { answerRedirect, type PortalResponse, securityHeaders } from '#portal/portal-response.ts'
import { ownBodyBytesMax } from './bodies.ts'
import { registerOwnRoute, routedMethods } from './own-endpoint.ts'
import { applyReplyKeepAlive, sendFile } from './replies.ts'
import { translateError } from './validate-with-schemas.ts'

/** Registers the portal in its own scope: it answers everything at and below its path, whatever the method. */
export function registerPortal(scope: FastifyInstance, portal: Portal): void {
  const { path: base } = portal
  acceptFormsOnly(scope)
  scope.addHook('onRequest', async (_request, reply) => {
    reply.headers(securityHeaders)
  })
  const pages = new Map(portal.pages.map((registered) => [base + registered.page.path, registered]))
  scope.setErrorHandler<FastifyError>((error, request, reply) => {
    // The body was aborted, and the error already sent.
    if (reply.sent) return reply
    const registered = pages.get(request.routeOptions.url ?? '')
    const answer = portal.answerError(translateError(error), requestOf(request, reply), registered)
    applyReplyKeepAlive(request, reply)
    return send(reply, answer)
  })
  const methods = routedMethods(scope, portalMethods)
  for (const [url, registered] of pages) {
    scope.route({
      url,
      method: methods,
      bodyLimit: registered.page.bytesMax ?? ownBodyBytesMax,
      onRequest: async (request, reply) => {
        const answer = await portal.admit(registered, requestOf(request, reply))
        return answer && sendEarly(request, reply, answer)
      },
      preHandler: async (request, reply) => {
        const answer = await portal.admitAgain(registered, requestOf(request, reply))
        return answer && sendEarly(request, reply, answer)
      },
      handler: async (request, reply) =>
        send(reply, await portal.answer(registered, requestOf(request, reply))),
    })
  }
  const { passwordPage } = portal
  if (passwordPage !== undefined) {
    const handler = async (_request: FastifyRequest, reply: FastifyReply) =>
      send(reply, answerRedirect(passwordPage))
    registerOwnRoute(scope, changePasswordPath, { handler }, documentMethods, portalMethods)
  }
  const anyMethod = { method: methods, handler: async () => throwNotFound() }
  scope.route({
    ...anyMethod,
    url: `${base}/assets/*`,
    onRequest: async (request, reply) => send(reply, portal.answerAsset(requestOf(request, reply))),
  })
  scope.route({ ...anyMethod, url: `${base}/*`, onRequest: async () => throwNotFound() })
}

function acceptFormsOnly(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser(
    '*',
    { parseAs: 'buffer', bodyLimit: ownBodyBytesMax },
    async ({ headers }: FastifyRequest, body: string | Buffer) =>
      parseForm(typeof body === 'string' ? Buffer.from(body) : body, headers),
  )
}

const portalRequestKey = Symbol('portal request')

/**
 * The portal's view of a request: the same object at every step. It is a property of the request: a WeakMap would keep
 * forms in memory until the next full collection.
 */
function requestOf(request: FastifyRequest, reply: FastifyReply): PortalRequest {
  // The cast is sound: only this function writes this key.
  const holder = request as FastifyRequest & { [portalRequestKey]?: PortalRequest }
  holder[portalRequestKey] ??= toPortalRequest(request, reply)
  return holder[portalRequestKey]
}

function toPortalRequest(request: FastifyRequest, reply: FastifyReply): PortalRequest {
  const { method, url, headers } = request
  const arrival = arrivalOf(request.raw)
  return {
    arrival,
    method,
    url,
    headers,
    cookies: {
      get: (name) => {
        const value = onlyCookieIn(arrival.head.rawHeaders, name)
        return value === ambiguousCookie ? undefined : value
      },
      set: (name, value, attributes) => {
        reply.setCookie(name, value, attributes)
      },
    },
    visitor: visitorOf(request.raw),
    viewer: undefined,
    // Not a getter: V8 would keep the closure of an accessor, and with it the form, until the next full collection.
    field: (name) => formOf(request)?.get(name),
    param: (name) => {
      const { params } = request
      const value = typeof params === 'object' && params !== null ? Reflect.get(params, name) : undefined
      return typeof value === 'string' ? value : ''
    },
  }
}

/** The form in the body; undefined until it has been read. */
function formOf({ body }: FastifyRequest): FormFields | undefined {
  return body instanceof Map ? body : undefined
}

/** Sends a response that does not depend on the body. */
function sendEarly(request: FastifyRequest, reply: FastifyReply, answer: PortalResponse): FastifyReply {
  applyKeepAlive(request.raw, reply.raw)
  return send(reply, answer)
}

function send(reply: FastifyReply, answer: PortalResponse): FastifyReply {
  if (answer.kind === 'file') return sendFile(reply, answer.file)
  return reply.code(answer.status).headers(answer.headers).send(answer.body)
}
