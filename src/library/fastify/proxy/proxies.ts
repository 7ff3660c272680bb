import { type IncomingMessage, METHODS } from 'node:http'
import type { Readable } from 'node:stream'
import type { FastifyHttpProxyOptions } from '@fastify/http-proxy'
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  onRequestHookHandler,
  RouteOptions,
} from 'fastify'
import { destinationOf } from '#gateway/arrival/outcome.ts'
import type { SecondTargets } from '#gateway/forward/forwarded-request.ts'
import { chooseHandler } from '#gateway/gate/choose-handler.ts'
import { createGate } from '#gateway/gate/gate.ts'
import type { GateResult } from '#gateway/gate/gate-result.ts'
import { createHeadPreparation } from '#gateway/gate/prepare-head.ts'
import { findRoute } from '#gateway/gate/route-request.ts'
import { type CheckSecondTargets, createSecondTargetCheck } from '#gateway/gate/second-targets.ts'
import { createOwnPaths } from '#gateway/routes/own-paths.ts'
import { standardMethods, upstreamTarget } from '#gateway/routes/route.ts'
import { createRouteTable, type RouteTable } from '#gateway/routes/table.ts'
import { GatehouseError, sharedError } from '#platform/errors/gatehouse-error.ts'
import { type AppArrival, appArrivalOf, readAppArrival, refuse, whenDecided } from '../app-arrival.ts'
import type { AppParts } from '../open-app-parts.ts'
import { callerOf } from '../require.ts'
import { answerFailure, attachExchange, exchangeOf, headersFor } from './exchange.ts'
import { createHttpClient } from './http-client.ts'
import {
  createProxyRoute,
  type ProxyOptions,
  type ProxyRoute,
  type ProxyUpstream,
  toRouteInput,
} from './proxy-options.ts'
import { createWebSocketOptions } from './web-socket-options.ts'

const routeKey = Symbol('proxied route')

/** Options of http-proxy, to be passed to it unchanged. A type of our own, as not every app has those of http-proxy. */
export interface HttpProxyOptions {
  readonly upstream: string
  readonly prefix: string
}

/** The proxied prefixes of an app. */
export function createProxies(app: FastifyInstance, parts: AppParts) {
  const routes: ProxyRoute[] = []
  let table: RouteTable<ProxyUpstream> | undefined
  const currentTable = () => (table ??= createRouteTable(routes))
  const webSockets = createWebSocketOptions(app, parts, currentTable)

  app.addHook('onRoute', (options) => {
    const route = routeIn(options)
    if (!route) return
    if ((options.prefix ?? '') !== route.prefix)
      throw new Error(
        `gatehouse: register the proxy of ${route.prefix || '/'} where no other prefix precedes it`,
      )
    options.onRequest = [createAdmit(parts, route, currentTable), ...[options.onRequest ?? []].flat()]
    options.errorHandler = answerError
  })

  function proxy(options: ProxyOptions): HttpProxyOptions {
    const route = createProxyRoute(toRouteInput(options), parts.reader.fieldReader.carriers)
    routes.push(route)
    table = undefined
    addMethods(app)
    const { url } = route.upstream
    const forHttpProxy = {
      upstream: url.origin,
      prefix: route.prefix,
      rewritePrefix: (route.rewrite ?? route.prefix) || '/',
      httpMethods: [...app.supportedMethods],
      config: { [routeKey]: route },
      // Without the hook above, as in an app that never registered the plugin, nothing is forwarded.
      preHandler: assertAdmitted,
      undici: createHttpClient(route.upstream) as object,
      destroyAgent: true,
      disableRequestLogging: true,
      internalRewriteLocationHeader: false,
      retryMethods: [],
      replyOptions: {
        // The casts are sound: apps over HTTP/2 are refused by the plugin.
        rewriteRequestHeaders: ({ raw }) => headersFor(admitted(raw as IncomingMessage)),
        retryDelay: () => null,
        onResponse: (_request, reply, response) => answerAtOnce(reply as unknown as FastifyReply, response),
        onError: (reply, { error }) => answerFailure(reply as unknown as FastifyReply, error),
      },
      ...(route.websocket && webSockets(route)),
    } satisfies FastifyHttpProxyOptions
    return forHttpProxy
  }

  return { proxy }
}

/** Sends the head of a response without a length, such as an event stream, before its body begins. */
function answerAtOnce(reply: FastifyReply, response: unknown): void {
  // The cast is sound: reply-from passes what its client has returned, with the body as `stream`.
  const { stream } = response as { readonly stream: Readable }
  if (!reply.hasHeader('content-length'))
    reply.raw.once('pipe', () => setImmediate(() => !reply.raw.headersSent && reply.raw.flushHeaders()))
  reply.send(stream)
}

function routeIn({ config }: RouteOptions): ProxyRoute | undefined {
  // The cast is sound: nothing else knows the key.
  return (config as { [routeKey]?: ProxyRoute } | undefined)?.[routeKey]
}

/** Methods such as MKCOL and PROPFIND are forwarded too; the options of a prefix decide which of them it accepts. */
function addMethods(app: FastifyInstance): void {
  const known = new Set<string>(app.supportedMethods)
  for (const method of METHODS)
    if (method !== 'CONNECT' && !known.has(method)) app.addHttpMethod(method, { hasBody: true })
}

function assertAdmitted(request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void {
  done(exchangeOf(request.raw) ? undefined : new GatehouseError('internal'))
}

function admitted(request: IncomingMessage) {
  const exchange = exchangeOf(request)
  if (!exchange) throw new GatehouseError('internal')
  return exchange
}

/** http-proxy refuses some paths that the gateway forwards: those with escapes that are not UTF-8. */
function answerError(
  error: Error & { statusCode?: number },
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const arrival = appArrivalOf(request.raw)
  if (!arrival) {
    reply.code(500).send()
    return
  }
  const isPath = error.statusCode === 400 || error instanceof URIError
  refuse(
    reply,
    arrival,
    isPath ? new GatehouseError('path-ambiguous') : new GatehouseError('internal', { cause: error }),
  )
}

const ownPaths = createOwnPaths({ enabled: false, path: '/portal' })

/**
 * Creates the hook that decides about the requests of one proxied prefix before their body is read, and prepares what
 * the backend receives.
 * @param table all proxied prefixes of the app: a path must belong to this prefix, however a backend may read it
 */
function createAdmit(
  parts: AppParts,
  route: ProxyRoute,
  table: () => RouteTable<ProxyUpstream>,
): onRequestHookHandler {
  const prepareHead = createHeadPreparation({ tracer: undefined })
  const gate = createGate<ProxyRoute, AppArrival>({ ...parts.gate, findRoute: findOwnRoute })

  /** The app's router has chosen this prefix by its own rules; the table must agree. */
  function findOwnRoute(arrival: AppArrival): GateResult<ProxyRoute> {
    if (arrival.exchange.malformed) return arrival.exchange.malformed
    const handledBy = chooseHandler(arrival, { cors: undefined, ownPaths })
    if (handledBy !== 'routes') return sharedError('path-ambiguous')
    const found = findRoute(table(), arrival)
    return found === route || found instanceof GatehouseError ? found : sharedError('path-ambiguous')
  }

  let check: CheckSecondTargets | undefined
  function checkSecondTargets(arrival: AppArrival) {
    // Not before the first request, when all proxies are known.
    check ??= createSecondTargetCheck({
      ...parts.gate,
      table: table(),
      ownPaths,
      publicOrigin: parts.api.publicOrigin,
    })
    return check(route, arrival)
  }

  /** @returns whether it is forwarded; if not, it has been answered */
  function prepare({ request, reply, arrival }: Admitted, secondTargets: SecondTargets | undefined): boolean {
    const head = prepareHead(route, arrival)
    if (!head) {
      // The app is the final recipient (Max-Forwards: 0).
      const allow = [...(route.methods ?? standardMethods)].join(', ')
      reply.code(204).headers({ Allow: allow, 'X-Request-Id': arrival.requestId }).send()
      return false
    }
    const { principal } = head
    if (principal) {
      request.principal = callerOf(principal)
      parts.usageMeter.onForwarded(route, principal, arrival.arrivedAt)
    }
    const target = upstreamTarget(route, destinationOf(arrival.outcome).target)
    const lines = parts.writer.writeHead(head)
    attachExchange(request.raw, reply, { arrival, route, target, lines, head, secondTargets })
    leaveBodyUnread(request)
    return true
  }

  return function admitForwarded(request, reply, done) {
    const arrival = readAppArrival(request.raw, parts.reader)
    const admitted = { request, reply, arrival }

    function forward(secondTargets: SecondTargets | undefined): void {
      if (prepare(admitted, secondTargets)) done()
    }

    whenDecided(
      admitted,
      () => gate(arrival),
      () => {
        if (arrival.fields.uncommon.secondTargets === undefined) forward(undefined)
        else whenDecided(admitted, () => checkSecondTargets(arrival), forward)
      },
    )
  }
}

/** A request that has passed the gate. */
interface Admitted {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly arrival: AppArrival
}

/**
 * Keeps Fastify's parsers, with their types and limits, away from the body: they are for bodies that the app reads, and
 * none is run if the head announces no body. What the backend receives comes from the raw fields.
 */
function leaveBodyUnread({ raw }: FastifyRequest): void {
  // Fastify requires a type for QUERY, which the client may have omitted.
  if (raw.method === 'QUERY') raw.headers['content-type'] = 'application/octet-stream'
  else delete raw.headers['content-type']
  delete raw.headers['content-length']
  delete raw.headers['transfer-encoding']
}
