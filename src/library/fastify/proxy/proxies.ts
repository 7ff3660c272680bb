import { type IncomingMessage, METHODS } from 'node:http'
import type { Readable } from 'node:stream'
import type { FastifyHttpProxyOptions } from '@fastify/http-proxy'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { createRouteTable, type RouteTable } from '#gateway/routes/table.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { appArrivalOf, refuse } from '../app-arrival.ts'
import type { AppParts } from '../open-app-parts.ts'
import { createAdmit } from './admit.ts'
import { answerFailure, exchangeOf, headersFor } from './exchange.ts'
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

/** Options of http-proxy, to be passed to it unchanged. Our own type, as not every app has its types. */
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

/** The head of a response without a length, such as an event stream, does not wait for the start of its body. */
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
