import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import { destinationOf } from '#gateway/arrival/outcome.ts'
import type { SecondTargets } from '#gateway/forward/forwarded-request.ts'
import { chooseScope } from '#gateway/gate/choose-scope.ts'
import type { GateResult } from '#gateway/gate/decision-effects.ts'
import { createGate } from '#gateway/gate/gate.ts'
import { createUpstreamHeadReader, findRoute } from '#gateway/gate/route-request.ts'
import { type CheckSecondTargets, createSecondTargetCheck } from '#gateway/gate/second-targets.ts'
import { createOwnPaths } from '#gateway/routes/own-paths.ts'
import { standardMethods, upstreamTarget } from '#gateway/routes/route.ts'
import type { RouteTable } from '#gateway/routes/table.ts'
import { GatehouseError, sharedError } from '#platform/errors/gatehouse-error.ts'
import { type AppArrival, readAppArrival, whenDecided } from '../app-arrival.ts'
import type { AppParts } from '../open-app-parts.ts'
import { callerOf } from '../require.ts'
import { attachExchange } from './exchange.ts'
import type { ProxyRoute, ProxyUpstream } from './proxy-options.ts'

const ownPaths = createOwnPaths({ enabled: false, path: '/portal' })

/**
 * Creates the hook that decides about the requests of one proxied prefix before their body is read, and prepares what
 * the backend receives.
 * @param table all proxied prefixes of the app: a path must belong to this prefix, however a backend may read it
 */
export function createAdmit(
  parts: AppParts,
  route: ProxyRoute,
  table: () => RouteTable<ProxyUpstream>,
): onRequestHookHandler {
  const readUpstreamHead = createUpstreamHeadReader({ tracer: undefined })
  const gate = createGate<ProxyRoute, AppArrival>({ ...parts.gate, findRoute: findOwnRoute })

  /** The app's router has chosen this prefix by its own rules; the table must agree. */
  function findOwnRoute(arrival: AppArrival): GateResult<ProxyRoute> {
    if (arrival.connection.malformed) return arrival.connection.malformed
    const scope = chooseScope(arrival, { cors: undefined, ownPaths })
    if (scope !== 'routes') return sharedError('path-ambiguous')
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
 * Parsers, their types and their limits are for bodies that the app reads. Fastify runs none if the head announces no
 * body; what the backend receives comes from the raw fields.
 */
function leaveBodyUnread({ raw }: FastifyRequest): void {
  // Fastify requires a type for QUERY, which the client may have omitted.
  if (raw.method === 'QUERY') raw.headers['content-type'] = 'application/octet-stream'
  else delete raw.headers['content-type']
  delete raw.headers['content-length']
  delete raw.headers['transfer-encoding']
}
