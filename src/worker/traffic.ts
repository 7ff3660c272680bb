import type { Limiter } from '../auth/rate-limit.ts'
import type { Config } from '../config/config.ts'
import { buildApi } from '../http/api.ts'
import { createObserver, type Observer } from '../http/observe.ts'
import type { OwnScope } from '../http/own-endpoints.ts'
import { type CarryOut, createProxy } from '../http/proxy.ts'
import type { UpgradeHandler } from '../http/upgrade.ts'
import type { Identity } from '../identity.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { createTrustedProxies, type TrustedProxies } from '../proxy/client.ts'
import { createHeaderRules } from '../proxy/header-rules.ts'
import { createIdentityWriter } from '../proxy/identity.ts'
import { createRequestWriter } from '../proxy/request-head.ts'
import { compileRoutes } from '../routes/compile.ts'
import { createRouteTable } from '../routes/table.ts'
import type { OpenUpstreams } from './upstreams.ts'

/** What a config makes of requests. A reload replaces it as a whole: no request meets two of them. */
export interface Traffic {
  readonly trusted: TrustedProxies
  readonly observer: Observer
  /** The endpoints of the gateway itself. */
  readonly api: OwnScope
  readonly proxy: CarryOut
}

export interface TrafficOptions {
  readonly config: Config
  readonly identity: Identity
  readonly upstreams: OpenUpstreams
  readonly limiter: Limiter
  readonly metrics: Metrics
  readonly log: Log
  readonly onUpgraded: UpgradeHandler
}

export async function buildTraffic(options: TrafficOptions): Promise<Traffic> {
  const { config, identity, upstreams, limiter, metrics, log, onUpgraded } = options
  const table = createRouteTable(compileRoutes(config.routes, upstreams.byName))
  const api = await buildApi({
    ...{ sessions: identity.sessions, keyring: identity.keyring, limiter, metrics },
    ...{ failures: config.failures, cookie: config.cookie, publicOrigin: config.publicOrigin },
    requestTimeoutMs: config.listen.requestTimeoutMs,
  })
  const proxy = createProxy({
    ...{ table, schemes: identity.schemes, limiter, failures: config.failures, metrics, onUpgraded },
    writer: createRequestWriter({
      rules: createHeaderRules(Object.values(config.identityHeaders)),
      writeIdentity: createIdentityWriter(config.identityHeaders),
      refreshCookie: config.cookie.name,
    }),
  })
  return {
    trusted: createTrustedProxies(config.trustedProxies),
    observer: createObserver({ metrics, log, logsAccess: config.log.access }),
    api,
    proxy,
  }
}
