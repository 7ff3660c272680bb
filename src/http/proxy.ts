import type { IncomingMessage, ServerResponse } from 'node:http'
import { METHODS } from 'node:http'
import httpProxy from '@fastify/http-proxy'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { authenticate, type Decision } from '../auth/authenticate.ts'
import { authorize } from '../auth/authorize.ts'
import type { Scheme } from '../auth/scheme.ts'
import { GatehouseError } from '../errors.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { forward } from '../proxy/forward.ts'
import type { RequestBody, RequestWriter } from '../proxy/request-head.ts'
import { forwardedTarget, type Route, type SchemeName } from '../routes/route.ts'
import type { RouteTable } from '../routes/table.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { type Arrival, arrivalOf, destinationOf } from './arrival.ts'
import { discardRest } from './early-answer.ts'
import { sendProblem, toGatehouseError } from './problem.ts'
import type { RequestFields } from './request-fields.ts'
import { type UpgradeHandler, upgradeOf } from './upgrade.ts'

export interface ProxyOptions {
  readonly table: RouteTable<Upstream>
  readonly schemes: Readonly<Record<SchemeName, Scheme>>
  readonly writer: RequestWriter
  readonly metrics: Metrics
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
  app.addHook('onRequest', createGate(options))
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

type Done = (error?: Error) => void

/** Decides before a byte of the body is read. */
function createGate({ table, schemes, metrics }: ProxyOptions) {
  function conclude(request: FastifyRequest, route: Route<Upstream>, decision: Decision): void {
    const { outcome } = arrivalOf(request.raw)
    const { scheme } = decision
    outcome.scheme = scheme
    const principal = decision.kind === 'allowed' ? decision.principal : undefined
    const code = decision.kind === 'refused' ? decision.code : authorize(route.access, principal)
    const reason = code ?? (principal === undefined ? 'anonymous' : 'ok')
    metrics.decisions.inc({
      scheme: scheme ?? 'none',
      outcome: code === undefined ? 'allowed' : 'refused',
      reason,
    })
    outcome.principal = principal
    if (code !== undefined) throw new GatehouseError(code)
    request.route = route
  }

  return function gate(request: FastifyRequest, _reply: FastifyReply, done: Done): void {
    try {
      const route = findRoute(table, request.raw)
      const { fields, outcome } = arrivalOf(request.raw)
      outcome.route = route.name
      outcome.access = route.access
      const decision = authenticate(
        route.access,
        {
          secretKey: fields.secretKey,
          authorization: fields.authorization,
          isRepeated: fields.isCredentialRepeated,
        },
        schemes,
      )
      if (decision instanceof Promise) {
        decision.then((settled) => conclude(request, route, settled)).then(() => done(), done)
      } else {
        conclude(request, route, decision)
        done()
      }
    } catch (error) {
      done(toGatehouseError(error))
    }
  }
}

function findRoute(table: RouteTable<Upstream>, request: IncomingMessage): Route<Upstream> {
  const { hostName, target } = destinationOf(request)
  const match = table.match(hostName, target, request.method ?? '')
  switch (match.kind) {
    case 'route':
      return match.route
    case 'none':
      throw new GatehouseError('route-not-found')
    case 'ambiguous':
      throw new GatehouseError('path-ambiguous')
    case 'method':
      throw new GatehouseError('method-not-allowed', { allow: match.allowed })
    default:
      return match satisfies never
  }
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
        onForwarded: () => conclude(request, response, arrival),
        onFailed: (error) => sendProblem(request, response, error),
        onUpgraded: (accepted) => {
          outcome.answeredAt = performance.now()
          if (upgrade) onUpgraded({ request, response, upgrade, accepted })
        },
      },
    )
  }
}

function conclude(request: IncomingMessage, response: ServerResponse, { outcome }: Arrival): void {
  outcome.answeredAt = performance.now()
  discardRest(request, response)
}

/** @throws GatehouseError `request-invalid`, `body-too-large` */
function readBody({ contentLength, transferEncoding }: RequestFields, bodyBytesMax: number): RequestBody {
  if (transferEncoding !== undefined) {
    if (transferEncoding.toLowerCase() === 'chunked') return { kind: 'chunked' }
    throw new GatehouseError('request-invalid', { detail: 'No transfer coding but chunked is supported.' })
  }
  const length = Number(contentLength ?? 0)
  if (length > bodyBytesMax) throw new GatehouseError('body-too-large')
  return length > 0 ? { kind: 'counted', length } : { kind: 'none', isEmpty: contentLength !== undefined }
}
