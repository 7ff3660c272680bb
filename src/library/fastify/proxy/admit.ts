import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { SecondTargets } from '#gateway/forward/forwarded-request.ts'
import { chooseScope } from '#gateway/gate/choose-scope.ts'
import type { GateResult } from '#gateway/gate/decision-effects.ts'
import { createGate } from '#gateway/gate/gate.ts'
import { destinationOf } from '#gateway/gate/outcome.ts'
import { createUpstreamHeadReader, findRoute } from '#gateway/gate/route-request.ts'
import {
  type CheckSecondTargets,
  createSecondTargetCheck,
  type SecondTargetResult,
} from '#gateway/gate/second-targets.ts'
import { toGatehouseError } from '#gateway/refusals/problem.ts'
import { createOwnPaths } from '#gateway/routes/own-paths.ts'
import { standardMethods, upstreamTarget } from '#gateway/routes/route.ts'
import type { RouteTable } from '#gateway/routes/table.ts'
import { GatehouseError, sharedError } from '#platform/errors/gatehouse-error.ts'
import { type AppArrival, readAppArrival, refuse } from '../app-arrival.ts'
import type { AppParts } from '../open-app-parts.ts'
import { callerOf } from '../require.ts'
import { attachExchange } from './exchange.ts'
import type { ProxyRoute, ProxyUpstream } from './proxy-options.ts'

const ownPaths = createOwnPaths({ enabled: false, path: '/portal' })

/**
 * Creates the hook that decides about the requests of one proxied prefix before their body is read, and prepares what
 * the backend gets.
 * @param table all proxied prefixes of the app: a path must be one of this prefix as any backend may read it
 */
export function createAdmit(
  parts: AppParts,
  route: ProxyRoute,
  table: () => RouteTable<ProxyUpstream>,
): onRequestHookHandler {
  const readUpstreamHead = createUpstreamHeadReader({ tracer: undefined })
  const gate = createGate<ProxyRoute, AppArrival>({ ...parts.gate, findRoute: findOwnRoute })

  /** The router of the app has chosen this prefix by its own rules: the table must agree. */
  function findOwnRoute(arrival: AppArrival): GateResult<ProxyRoute> {
    if (arrival.connection.malformed) return arrival.connection.malformed
    const scope = chooseScope(arrival, { cors: undefined, ownPaths })
    if (scope !== 'routes') return sharedError('path-ambiguous')
    const found = findRoute(table(), arrival)
    return found === route || found instanceof GatehouseError ? found : sharedError('path-ambiguous')
  }

  let check: CheckSecondTargets | undefined
  function checkSecondTargets(arrival: AppArrival) {
    // Not before the first request: all proxies are known then.
    check ??= createSecondTargetCheck({
      ...parts.gate,
      table: table(),
      ownPaths,
      publicOrigin: parts.api.publicOrigin,
    })
    return check(route, arrival)
  }

  /** @returns whether it is to be forwarded; else it is answered */
  function prepare({ request, reply, arrival }: Admitted, secondTargets: SecondTargets | undefined): boolean {
    const head = readUpstreamHead(route, arrival)
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

    function fail(error: unknown): void {
      refuse(reply, arrival, toGatehouseError(error))
    }

    function forward(checked: SecondTargetResult | undefined): void {
      try {
        if (checked instanceof GatehouseError) refuse(reply, arrival, checked)
        else if (prepare({ request, reply, arrival }, checked)) done()
      } catch (error) {
        fail(error)
      }
    }

    function settle(result: GateResult<ProxyRoute>): void {
      if (result instanceof GatehouseError) refuse(reply, arrival, result)
      else if (arrival.fields.uncommon.secondTargets === undefined) forward(undefined)
      else checkSecondTargets(arrival).then(forward, fail)
    }

    try {
      const result = gate(arrival)
      if (result instanceof Promise) result.then(settle).catch(fail)
      else settle(result)
    } catch (error) {
      fail(error)
    }
  }
}

/** A request that has passed the gate. */
interface Admitted {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly arrival: AppArrival
}

/**
 * Parsers, their types and their limits are for bodies that the app reads. Fastify runs none where the head announces no
 * body; what the backend gets comes from the raw fields.
 */
function leaveBodyUnread({ raw }: FastifyRequest): void {
  // Fastify requires a type of QUERY, which the client may have left out.
  if (raw.method === 'QUERY') raw.headers['content-type'] = 'application/octet-stream'
  else delete raw.headers['content-type']
  delete raw.headers['content-length']
  delete raw.headers['transfer-encoding']
}
