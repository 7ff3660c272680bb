import { authorize } from '../auth/authorize.ts'
import type { Config } from '../config/config.ts'
import { GatehouseError } from '../errors/gatehouse-error.ts'
import { isServerWideOptions } from '../http/options-request.ts'
import { readMaxForwards, withMaxForwards } from '../proxy/max-forwards.ts'
import { compileRoutes } from '../routes/compile.ts'
import { createOwnPaths } from '../routes/own-paths.ts'
import { type Route, upstreamTarget } from '../routes/route.ts'
import { createRouteTable, type RouteTable } from '../routes/table.ts'
import type { UpstreamConfig } from '../upstream/upstream.ts'
import { isAnsweredPreflight } from './cross-origin.ts'
import { createDecisionTrace, type DecisionTrace } from './decision-trace.ts'
import { describeRouteMatch } from './describe-route-match.ts'
import { describeLimits, describePolicy, describeTrailers } from './describe-steps.ts'
import type { ExplainedRequest, Explanation } from './explanation.ts'
import { identify } from './identify.ts'
import { explainMaxForwards, explainServerOptions } from './options.ts'
import { isAnsweredByGateway } from './own-path.ts'
import { type ExplainedArrival, readArrival } from './read-arrival.ts'
import type { ReadOnlyAuth } from './read-only-auth.ts'
import { redactTarget } from './redact.ts'
import { showUpstreamHead } from './upstream-head.ts'

type FoundRoute = Route<UpstreamConfig>

/**
 * What the gateway would decide about a request, step by step, using the same parts that decide there. Nothing is
 * sent, counted or changed.
 * @throws OperatorError if the store or the sealing key cannot be opened at all
 */
export async function explain(
  request: ExplainedRequest,
  config: Config,
  { schemes }: Pick<ReadOnlyAuth, 'schemes'>,
): Promise<Explanation> {
  const upstreams = new Map(config.upstreams.map((upstream) => [upstream.name, upstream]))
  const table = createRouteTable(compileRoutes(config.routes, upstreams))
  const trace = createDecisionTrace()
  return trace.run(async () => {
    if (isServerWideOptions(request)) return explainServerOptions(request, trace)
    const arrival = readArrival(request, config, trace)
    const ownPaths = createOwnPaths(config.portal)
    if (isAnsweredPreflight(arrival, { config, table, ownPaths, trace })) return 'no-content'
    if (await isAnsweredByGateway(arrival, { ownPaths, schemes, config, trace })) return 'answer'
    const route = findRoute(arrival, table, trace)
    const principal = await identify(arrival, route, { schemes, config, trace })
    const code = authorize(route.access, principal)
    if (code !== undefined) throw new GatehouseError(code)
    trace.passStep('policy', describePolicy(route), 'limits')
    assertBodyFits(arrival, route)
    trace.passStep(
      'limits',
      describeLimits(route, { principal, address: arrival.client.address }),
      'upstream',
    )
    const forwardsLeft = readMaxForwards(arrival.head)
    if (forwardsLeft === 0) return explainMaxForwards(route, trace)
    const rawHeaders =
      forwardsLeft === undefined
        ? arrival.head.rawHeaders
        : withMaxForwards(arrival.head.rawHeaders, forwardsLeft)
    const head = { ...arrival.head, rawHeaders }
    const headers = showUpstreamHead(config, { ...arrival, head, route, principal })
    const target = redactTarget(upstreamTarget(route, arrival.target))
    const { name } = route.upstream
    const trailers = describeTrailers(arrival.head, route)
    trace.passStep('upstream', {
      detail: `${name} receives ${request.method} ${target}${trailers.detail}`,
      facts: { upstream: name, method: request.method, target, headers, ...trailers.facts },
    })
    return 'forward'
  })
}

function findRoute(
  { request, target, hostName }: ExplainedArrival,
  table: RouteTable<UpstreamConfig>,
  trace: DecisionTrace,
): FoundRoute {
  const match = table.match(hostName, target, request.method)
  if (match.kind === 'none') throw new GatehouseError('route-not-found')
  if (match.kind === 'ambiguous')
    throw new GatehouseError('path-ambiguous', { detail: `The path is ambiguous: ${match.reason}.` })
  if (match.kind === 'method') {
    if (match.onlyRoute) trace.setRoute(match.onlyRoute.name)
    throw new GatehouseError('method-not-allowed', { allow: match.allowed })
  }
  const { route } = match
  trace.setRoute(route.name)
  trace.passStep('route', {
    detail: describeRouteMatch(route, table, { host: hostName, target, method: request.method }),
    facts: {
      name: route.name,
      host: route.host,
      path: route.prefix || '/',
      methods: route.methods && [...route.methods],
    },
  })
  return route
}

function assertBodyFits({ head: { body } }: ExplainedArrival, { bodyBytesMax }: FoundRoute): void {
  if (body.kind === 'counted' && body.length > bodyBytesMax) throw new GatehouseError('body-too-large')
}
