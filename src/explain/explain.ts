import { authorize } from '../auth/authorize.ts'
import type { Config } from '../config/config.ts'
import { GatehouseError } from '../errors.ts'
import { isAboutServer } from '../http/options.ts'
import { createOwnPaths } from '../http/own-paths.ts'
import { readMaxForwards, withMaxForwards } from '../proxy/max-forwards.ts'
import { compileRoutes } from '../routes/compile.ts'
import { forwardedTarget, type Route } from '../routes/route.ts'
import { createRouteTable, type RouteTable } from '../routes/table.ts'
import type { UpstreamTerms } from '../upstream/upstream.ts'
import { type Arrived, arrive } from './arrive.ts'
import type { Callers } from './callers.ts'
import { isPreflight } from './cross-origin.ts'
import type { AskedRequest, Explanation } from './explanation.ts'
import { identify } from './identify.ts'
import { tellAboutServer, tellFinalRecipient } from './options.ts'
import { isAnswered } from './own-path.ts'
import { redactTarget } from './redact.ts'
import { createTrail, type Trail } from './trail.ts'
import { showUpstreamHead } from './upstream-head.ts'
import { whyRoute } from './why-route.ts'
import { ofLimits, ofPolicy, ofTrailers } from './wording.ts'

type FoundRoute = Route<UpstreamTerms>

/**
 * What the gateway would decide about a request, step by step, using the same parts that decide there. Nothing is
 * sent, counted or changed.
 * @throws OperatorError where the store or the sealing key cannot be opened at all
 */
export async function explain(
  request: AskedRequest,
  config: Config,
  { schemes }: Pick<Callers, 'schemes'>,
): Promise<Explanation> {
  const upstreams = new Map(config.upstreams.map((upstream) => [upstream.name, upstream]))
  const table = createRouteTable(compileRoutes(config.routes, upstreams))
  const trail = createTrail()
  return trail.follow(async () => {
    if (isAboutServer(request)) return tellAboutServer(request, trail)
    const arrived = arrive(request, config, trail)
    const ownPaths = createOwnPaths(config.portal)
    if (isPreflight(arrived, { config, table, ownPaths, trail })) return 'no-content'
    if (await isAnswered(arrived, { ownPaths, schemes, config, trail })) return 'answer'
    const route = findRoute(arrived, table, trail)
    const principal = await identify(arrived, route, { schemes, config, trail })
    const code = authorize(route.access, principal)
    if (code !== undefined) throw new GatehouseError(code)
    trail.pass('policy', ofPolicy(route), 'limits')
    assertBodyFits(arrived, route)
    trail.pass('limits', ofLimits(route, { principal, address: arrived.client.address }), 'upstream')
    const forwardsLeft = readMaxForwards(arrived.head)
    if (forwardsLeft === 0) return tellFinalRecipient(route, trail)
    const rawHeaders =
      forwardsLeft === undefined
        ? arrived.head.rawHeaders
        : withMaxForwards(arrived.head.rawHeaders, forwardsLeft)
    const head = { ...arrived.head, rawHeaders }
    const headers = showUpstreamHead(config, { ...arrived, head, route, principal })
    const target = redactTarget(forwardedTarget(route, arrived.target))
    const { name } = route.upstream
    const trailers = ofTrailers(arrived.head, route)
    trail.pass('upstream', {
      detail: `${name} gets ${request.method} ${target}${trailers.detail}`,
      facts: { upstream: name, method: request.method, target, headers, ...trailers.facts },
    })
    return 'forward'
  })
}

function findRoute(
  { request, target, hostName }: Arrived,
  table: RouteTable<UpstreamTerms>,
  trail: Trail,
): FoundRoute {
  const match = table.match(hostName, target, request.method)
  if (match.kind === 'none') throw new GatehouseError('route-not-found')
  if (match.kind === 'ambiguous')
    throw new GatehouseError('path-ambiguous', { detail: `The path is ambiguous: ${match.reason}.` })
  if (match.kind === 'method') {
    if (match.only) trail.enter(match.only.name)
    throw new GatehouseError('method-not-allowed', { allow: match.allowed })
  }
  const { route } = match
  trail.enter(route.name)
  trail.pass('route', {
    detail: whyRoute(route, table, { host: hostName, target, method: request.method }),
    facts: {
      name: route.name,
      host: route.host,
      path: route.prefix || '/',
      methods: route.methods && [...route.methods],
    },
  })
  return route
}

function assertBodyFits({ head: { body } }: Arrived, { bodyBytesMax }: FoundRoute): void {
  if (body.kind === 'counted' && body.length > bodyBytesMax) throw new GatehouseError('body-too-large')
}
