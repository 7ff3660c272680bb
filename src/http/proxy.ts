import type { IncomingMessage } from 'node:http'
import { METHODS } from 'node:http'
import httpProxy from '@fastify/http-proxy'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { GatehouseError } from '../errors.ts'
import { forward } from '../proxy/forward.ts'
import type { RequestBody, RequestWriter } from '../proxy/request-head.ts'
import { forwardedTarget, type Route } from '../routes/route.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { type Arrival, arrivalOf, destinationOf } from './arrival.ts'
import { discardRest } from './early-answer.ts'
import { createGate, type GateOptions } from './gate.ts'
import { sendProblem, toGatehouseError } from './problem.ts'
import type { RequestFields } from './request-fields.ts'
import { type UpgradeHandler, upgradeOf } from './upgrade.ts'

export interface ProxyOptions extends GateOptions<Upstream> {
  readonly writer: RequestWriter
  readonly onUpgraded: UpgradeHandler
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set once the request may pass. */
    route: Route<Upstream> | undefined
  }
}

/**
 * The raw scope: no body is parsed or read here. In this order a request finds its route, is authenticated
 * and authorised, and only then forwarded.
 */
export async function buildProxy(options: ProxyOptions): Promise<FastifyInstance> {
  const app = Fastify({
    // Which route it is has been decided without the router, which would decode the path.
    rewriteUrl: () => '/',
    genReqId: () => '',
    exposeHeadRoutes: false,
    return503OnClosing: false,
  })
  for (const method of METHODS) {
    // For Fastify no method has a body: it must neither read it nor judge its Content-Type.
    app.addHttpMethod(method, { hasBody: false, overrideExisting: true })
  }
  app.decorateRequest('route', undefined)
  app.setErrorHandler((error, request, reply) => {
    reply.hijack()
    sendProblem(request.raw, reply.raw, toGatehouseError(error))
  })
  const gate = createGate(options)
  app.addHook('onRequest', (request, _reply, done) => {
    try {
      const route = gate(request.raw)
      if (route instanceof Promise) route.then((found) => pass(request, found, done), done)
      else pass(request, route, done)
    } catch (error) {
      done(toGatehouseError(error))
    }
  })
  await app.register(httpProxy, {
    // The exchange is our own (docs/decisions/0002-forwarding.md): this address is never used.
    upstream: 'http://upstream.invalid',
    httpMethods: METHODS,
    routes: ['/'],
    // Takes over before a destination is worked out from the path once more: 6 us of 75.
    preHandler: createHandler(options),
  })
  await app.ready()
  return app
}

function pass(request: FastifyRequest, route: Route<Upstream>, done: () => void): void {
  request.route = route
  done()
}

/** Hands the request to its upstream; the reply is written by the exchange, not by Fastify. */
function createHandler({ writer, onUpgraded }: ProxyOptions) {
  return function handle(fastifyRequest: FastifyRequest, reply: FastifyReply): void {
    const { raw: request, route } = fastifyRequest
    const response = reply.raw
    const arrival = arrivalOf(request)
    const { outcome, fields, client, requestId } = arrival
    if (!route) throw new Error('a request that passed without a route')
    const body = readBody(fields, route.bodyBytesMax)
    const upgrade = route.websocket ? upgradeOf(request) : undefined
    const host = fields.host ?? ''
    reply.hijack()
    outcome.upstream = route.upstream.name
    forward(
      {
        request,
        response,
        upstream: route.upstream,
        target: forwardedTarget(route, destinationOf(request).target),
        headerLines: writer.writeHead({
          ...{
            rawHeaders: request.rawHeaders,
            route,
            principal: outcome.principal,
            client,
            host,
            requestId,
            body,
          },
          connectionNames: fields.connectionNames,
          isUpgrade: upgrade !== undefined,
        }),
        writeTrailers: writer.writeTrailers,
        host,
        clientOrigin: `${client.protocol}://${client.host}`,
        body,
        bodyBytesMax: route.bodyBytesMax,
        responseTimeoutMs: route.responseTimeoutMs,
        isUpgrade: upgrade !== undefined,
      },
      {
        onSent: () => {
          outcome.sentAt = performance.now()
        },
        onForwarded: () => conclude(request, arrival),
        onFailed: (error) => sendProblem(request, response, error),
        onUpgraded: (accepted) => {
          outcome.answeredAt = performance.now()
          if (upgrade) onUpgraded({ request, response, upgrade, accepted })
        },
      },
    )
  }
}

function conclude(request: IncomingMessage, { outcome }: Arrival): void {
  outcome.answeredAt = performance.now()
  discardRest(request)
}

/** @throws GatehouseError `body-too-large` */
function readBody({ contentLength, transferEncoding }: RequestFields, bodyBytesMax: number): RequestBody {
  if (transferEncoding !== undefined) return { kind: 'chunked' }
  const length = Number(contentLength ?? 0)
  if (length > bodyBytesMax) throw new GatehouseError('body-too-large')
  return length > 0 ? { kind: 'counted', length } : { kind: 'none', isEmpty: contentLength !== undefined }
}
