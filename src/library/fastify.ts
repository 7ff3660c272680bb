import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance, onRequestHookHandler } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { registerEndpoints } from '#api/api.ts'
import { type AppConfigOptions, loadAppConfig } from '#config/load-app-config.ts'
import { ownRouteName } from '#gateway/routes/route.ts'
import type { StoreHealth } from '#store/store-health.ts'
import { appArrivalOf, readAppArrival, refuse } from './fastify/app-arrival.ts'
import { type AppParts, createAppLog, openAppParts } from './fastify/open-app-parts.ts'
import { createProxies, type HttpProxyOptions } from './fastify/proxy/proxies.ts'
import type { ProxyOptions } from './fastify/proxy/proxy-options.ts'
import { type Caller, createRequireHook, type RequireOptions } from './fastify/require.ts'

// Entry point `@gatehouse-proxy/gateway/fastify`.
export type { AppConfigOptions } from '#config/load-app-config.ts'
export type { HttpProxyOptions } from './fastify/proxy/proxies.ts'
export type { ProxyOptions } from './fastify/proxy/proxy-options.ts'
export type { Caller, CallerProfile, RateLimitOptions, RequireOptions } from './fastify/require.ts'

/** Options of the plugin. */
export interface GatehouseOptions {
  /**
   * The options of a config file, or the path of one. Sections about listeners, routes, upstreams and the portal are
   * for the stand-alone gateway: in an object they are an error, in a file they are ignored.
   */
  readonly config: AppConfigOptions | string
  /** Milliseconds since 1970; default: the system's clock. For tests. */
  readonly clock?: () => number
}

/** `app.gatehouse`. */
export interface Gatehouse {
  /**
   * A hook that authenticates and authorises the requests of a route before their body is read; to be used as
   * `onRequest`. Sets `request.principal`. Refusals are answered with the problems, status codes and headers of the
   * gateway; with 503 while the store is unreachable and the caller is not cached.
   * @throws ConfigError for invalid options
   */
  require(options?: RequireOptions): onRequestHookHandler
  /**
   * Options for `@fastify/http-proxy`, which then forwards the admitted requests of a prefix, with the caller's
   * identity and without the client's claims about it. To be passed unchanged, in a scope without a prefix.
   * @throws ConfigError for invalid options; Error without http-proxy
   */
  proxy(options: ProxyOptions): HttpProxyOptions
  /** Whether requests can be decided; `degraded` = only those of callers that are cached. For a readiness probe. */
  health(): StoreHealth
  /** The metrics of the decisions, in the text format of Prometheus. */
  metrics(): Promise<string>
}

declare module 'fastify' {
  interface FastifyInstance {
    gatehouse: Gatehouse
  }
  interface FastifyRequest {
    /** Who is calling; undefined = anonymous, or a route without `gatehouse.require()`. */
    principal: Caller | undefined
  }
}

async function registerGatehouse(app: FastifyInstance, options: GatehouseOptions): Promise<void> {
  if ('http2' in app.initialConfig && app.initialConfig.http2)
    throw new Error('gatehouse: apps over HTTP/2 are not supported')
  const configured = loadAppConfig(options.config)
  // The pages for people need the gateway itself.
  const config = { ...configured, portal: { ...configured.portal, enabled: false } }
  const parts = await openAppParts({
    config,
    log: createAppLog(app.log),
    clock: options.clock ?? Date.now,
  })
  // Runs before the server waits for its connections to end.
  app.addHook('preClose', async () => parts.api.revocationFeed?.close())
  app.addHook('onClose', parts.close)
  app.decorateRequest('principal', undefined)
  app.decorate('gatehouse', createGatehouse(app, parts))
  sendContinueOnceAdmitted(app)
  await app.register(async (scope) => {
    scope.addHook('onRequest', (request, reply, done) => {
      const arrival = readAppArrival(request.raw, parts.reader)
      const { malformed } = arrival.exchange
      if (malformed) refuse(reply, arrival, malformed)
      else done()
    })
    await registerEndpoints(scope, parts.api)
  })
}

function createGatehouse(app: FastifyInstance, parts: AppParts): Gatehouse {
  return {
    require: (options) => createRequireHook(parts, options),
    proxy: createProxies(app, parts).proxy,
    health: parts.health,
    metrics: parts.metrics.text,
  }
}

/** Gatehouse in a Fastify 5 app: `await app.register(gatehouse, { config })`. */
export const gatehouse = fastifyPlugin(registerGatehouse, { fastify: '5.x', name: 'gatehouse' })
export default gatehouse

/**
 * Sends 100 only once a request has passed its onRequest hooks: Node itself sends it before any of them has run, so a
 * client that may not call would send its body. An app that handles `checkContinue` itself keeps doing so.
 */
function sendContinueOnceAdmitted(app: FastifyInstance): void {
  const { server } = app
  if (server.listenerCount('checkContinue') > 0) return
  const waiting = new WeakSet<IncomingMessage>()
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    waiting.add(request)
    server.emit('request', request, response)
  })
  app.addHook('preParsing', ({ raw }, reply, _payload, done) => {
    // The gateway's endpoints send their own, once they have checked what the head says about the body.
    if (waiting.has(raw) && appArrivalOf(raw)?.outcome.route !== ownRouteName) reply.raw.writeContinue()
    done()
  })
}
