import type { Server } from 'node:http'
import type { Config } from './config/config.ts'
import { buildApi } from './http/api.ts'
import { createDrain } from './http/drain.ts'
import { listen } from './http/listen.ts'
import { createObserver } from './http/observe.ts'
import { buildOps } from './http/ops.ts'
import { createOwnPaths } from './http/own-paths.ts'
import { registerPortal } from './http/portal/portal.ts'
import { createPortalCookie } from './http/portal-cookie.ts'
import { buildProxy } from './http/proxy.ts'
import { createGatewayServer } from './http/server.ts'
import { createUpgradeCheck } from './http/upgrade.ts'
import { createWebSockets } from './http/web-sockets.ts'
import { openIdentity } from './identity.ts'
import type { Log } from './log.ts'
import { createMetrics } from './metrics/metrics.ts'
import { createPeople } from './people.ts'
import { createTrustedProxies } from './proxy/client.ts'
import { createHeaderRules } from './proxy/header-rules.ts'
import { createIdentityWriter } from './proxy/identity.ts'
import { createRequestWriter } from './proxy/request-head.ts'
import { compileRoutes } from './routes/compile.ts'
import { createRouteTable } from './routes/table.ts'
import { openUpstream } from './upstream/upstream.ts'
import { readVersion } from './version.ts'

export interface Gateway {
  /** Where clients come in, such as `http://127.0.0.1:8080`. */
  readonly url: string
  /** Where operators look. */
  readonly opsUrl: string
  /**
   * Ends it: first only /readyz says so, then no connection is taken any more, then what is left ends.
   * @returns false where requests had to be broken off
   */
  shutDown(): Promise<boolean>
}

export interface GatewayOptions {
  readonly config: Config
  readonly log: Log
  /** Milliseconds since 1970; default: the system's. */
  readonly clock?: () => number
}

/**
 * Builds everything from the config and starts to listen.
 * @throws OperatorError where a key, the database or an address cannot be had
 */
export async function openGateway({ config, log, clock = Date.now }: GatewayOptions): Promise<Gateway> {
  const metrics = createMetrics({ version: readVersion() })
  const webSockets = createWebSockets({ metrics, clock, directory: () => identity.directory })
  const identity = await openIdentity({ config, log, metrics, clock, onChange: webSockets.recheck })
  const upstreams = new Map(config.upstreams.map((upstream) => [upstream.name, openUpstream(upstream)]))
  const table = createRouteTable(compileRoutes(config.routes, upstreams))
  let isShuttingDown = false
  let isDraining = false
  let ownUrl = ''

  const { store, sealingKey, limiter, keyUses } = identity
  const people = createPeople({ config, store, sealingKey, limiter, clock })

  const gatewayServer = createGatewayServer({
    ...config.listen,
    ownPaths: createOwnPaths(config.portal),
    trusted: createTrustedProxies(config.trustedProxies),
    observer: createObserver({ metrics, log, logsAccess: config.log.access }),
    api: await buildApi({
      ...{ sessions: identity.sessions, keyring: identity.keyring, limiter: identity.limiter, metrics },
      ...{ failures: config.failures, cookie: config.cookie },
      publicOrigin: config.publicOrigin,
      requestTimeoutMs: config.listen.requestTimeoutMs,
      version: readVersion(),
      portalPath: config.portal.enabled ? config.portal.path : undefined,
      admin: {
        ...{ actsOf: people.actsOf, schemes: identity.schemes, keyUses },
        hasPortal: config.portal.enabled,
      },
      registerPortal: config.portal.enabled
        ? (scope) =>
            registerPortal(scope, {
              ...people,
              ...{ routes: config.routes, identityHeaders: config.identityHeaders, clock },
              ...{ path: config.portal.path, publicOrigin: config.publicOrigin },
              cookie: createPortalCookie({
                path: config.portal.path,
                isSecure: config.publicOrigin.startsWith('https:'),
              }),
              gatewayUrl: () => ownUrl,
            })
        : undefined,
    }),
    proxy: await buildProxy({
      ...{ table, schemes: identity.schemes, limiter: identity.limiter, failures: config.failures, metrics },
      keyUses,
      onUpgraded: webSockets.accept,
      writer: createRequestWriter({
        rules: createHeaderRules(Object.values(config.identityHeaders)),
        writeIdentity: createIdentityWriter(config.identityHeaders),
        refreshCookie: config.cookie.name,
      }),
    }),
    takesUpgrade: createUpgradeCheck(table),
    isDraining: () => isDraining,
  })
  const ops = await buildOps(metrics, { isShuttingDown: () => isShuttingDown, identity: identity.health })
  const drain = createDrain(gatewayServer)

  async function close(): Promise<void> {
    for (const upstream of upstreams.values()) upstream.close()
    await ops.close()
    await identity.close()
  }

  async function shutDown(): Promise<boolean> {
    isShuttingDown = true
    await new Promise((resolve) => setTimeout(resolve, config.shutdown.delayMs))
    isDraining = true
    webSockets.closeAll(1001, 'the gateway is shutting down')
    const isClean = await drain.drain(config.shutdown.drainMs)
    await close()
    return isClean
  }

  const [url, opsUrl] = await listenBoth(config, gatewayServer.server, ops.server).catch(
    async (error: unknown) => {
      gatewayServer.server.close()
      await close()
      throw error
    },
  )
  ownUrl = url
  return { url, opsUrl, shutDown }
}

async function listenBoth({ listen: main, ops }: Config, server: Server, opsServer: Server) {
  const port = await listen(server, main, 'listen.host and listen.port')
  const opsPort = await listen(opsServer, ops, 'ops.host and ops.port')
  return [urlOf(main.host, port), urlOf(ops.host, opsPort)] as const
}

/** Where a client on this machine reaches it. */
function urlOf(listenHost: string, port: number): string {
  const host = listenHost === '0.0.0.0' ? '127.0.0.1' : listenHost === '::' ? '::1' : listenHost
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
