import { type AppRouteInput, resolveAppRoute } from '#config/load-app-config.ts'
import { hasUpstream } from '#gateway/gate/route-request.ts'
import { compileRoutes } from '#gateway/routes/compile.ts'
import type { Route } from '#gateway/routes/route.ts'
import type { UpstreamConfig } from '#http/upstream/upstream.ts'
import type { Carriers } from '#identity/keys/carriers.ts'

/** The one target of a proxied prefix. */
export interface ProxyUpstream
  extends Pick<
    UpstreamConfig,
    | 'name'
    | 'headers'
    | 'host'
    | 'tls'
    | 'connectTimeoutMs'
    | 'responseTimeoutMs'
    | 'idleTimeoutMs'
    | 'connectionsMax'
  > {
  readonly url: URL
}

export type ProxyRoute = Route<ProxyUpstream>

/** @throws ConfigError with every problem */
export function createProxyRoute(input: AppRouteInput, carriers: Carriers): ProxyRoute {
  const { route, upstream } = resolveAppRoute(input, 'gatehouse.proxy()')
  const [target] = upstream.targets
  if (!target) throw new Error('an upstream without targets was valid')
  // Its name is the audience of assertions.
  const proxied: ProxyUpstream = { ...upstream, name: route.name, url: target.url }
  const [compiled] = compileRoutes([route], new Map([[upstream.name, proxied]]), carriers)
  if (!compiled || !hasUpstream(compiled)) throw new Error('a valid route was not compiled')
  return compiled
}
