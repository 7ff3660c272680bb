import { GatehouseError } from '../errors/gatehouse-error.ts'
import { forward } from '../proxy/forward.ts'
import type { ForwardEvents, ForwardedRequest } from '../proxy/forwarded-request.ts'
import { readMaxForwards, withMaxForwards } from '../proxy/max-forwards.ts'
import { isLastOnConnection, type RequestWriter } from '../proxy/request-head.ts'
import { type Route, standardMethods, upstreamTarget } from '../routes/route.ts'
import type { RouteTable } from '../routes/table.ts'
import type { Tracer } from '../tracing/tracer.ts'
import type { Upstream } from '../upstream/upstream.ts'
import type { Arrival } from './arrival.ts'
import { prefersHtml } from './error-page.ts'
import { findRoute } from './find-route.ts'
import { createGate, type GateOptions, type GateResult } from './gate.ts'
import { answerOptions } from './options-request.ts'
import {
  destinationOf,
  principalOf,
  recordAnswered,
  recordSent,
  recordStatus,
  recordUpstream,
} from './outcome.ts'
import { answerErrorPage, answerProblem, toGatehouseError } from './problem.ts'
import { brokenBodyError } from './unreadable.ts'
import { isWebSocketUpgrade, type UpgradeHandler } from './upgrade.ts'

export interface ProxyOptions extends Omit<GateOptions<Route<Upstream>>, 'findRoute'> {
  readonly table: RouteTable<Upstream>
  readonly writer: RequestWriter
  /** undefined = traceparent is forwarded unchanged. */
  readonly tracer: Tracer | undefined
  readonly onUpgraded: UpgradeHandler
  /** The path of the portal; undefined = there is none. */
  readonly portalPath: string | undefined
}

/**
 * Proxies a request that is not for the gateway itself.
 * @throws GatehouseError if it cannot be decided or forwarded
 */
export type ProxyHandler = (arrival: Arrival) => void

/**
 * The proxy path: no body is parsed here. A request is matched to its route, authenticated and authorised, and only
 * then forwarded.
 */
export function createProxy(options: ProxyOptions): ProxyHandler {
  const { table, writer, onUpgraded, tracer } = options
  const gate = createGate<Route<Upstream>>({
    ...options,
    findRoute: (arrival) => findRoute(table, arrival),
  })
  const events = createEvents(onUpgraded)

  function forwardToUpstream(route: Route<Upstream>, arrival: Arrival): void {
    const { connection, head, outcome, fields, client, requestId } = arrival
    const { body } = head
    if (body.kind === 'counted' && body.length > route.bodyBytesMax)
      throw new GatehouseError('body-too-large')
    const maxForwards = readMaxForwards(head)
    if (maxForwards === 0) {
      answerOptions(arrival, route.methods ?? standardMethods)
      return
    }
    const isUpgrade = route.websocket && isWebSocketUpgrade(head)
    const isLast = isLastOnConnection(head, route)
    const { connectionOptions, host = '' } = fields
    const trace = tracer?.startTrace(head.rawHeaders)
    recordUpstream(outcome, route.upstream.name, trace)
    const tracedHeaders = trace?.rawHeaders ?? head.rawHeaders
    const rawHeaders = maxForwards === undefined ? tracedHeaders : withMaxForwards(tracedHeaders, maxForwards)
    forward(
      {
        arrival,
        connection,
        head,
        upstream: route.upstream,
        requestTarget: upstreamTarget(route, destinationOf(outcome).target),
        headerLines: writer.writeHead({
          rawHeaders,
          isCachedHead: head.isCachedHead && rawHeaders === head.rawHeaders,
          route,
          principal: principalOf(outcome),
          client,
          requestId,
          body,
          connectionOptions,
          isUpgrade,
          isLast,
          minorVersion: head.minorVersion,
        }),
        isLast,
        writeTrailers: route.passesTrailers ? writer.writeTrailers : undefined,
        host,
        client,
        accountId: principalOf(outcome)?.accountId,
        bodyBytesMax: route.bodyBytesMax,
        responseTimeoutMs: route.responseTimeoutMs,
        isUpgrade,
        corsHeaders: outcome.corsHeaders,
      },
      events,
    )
  }

  /** A person in a browser gets an HTML page. */
  function refuse(arrival: Arrival, error: GatehouseError): void {
    const wantsPage = error.code === 'route-not-found' && prefersHtml(arrival.head)
    if (wantsPage) answerErrorPage(arrival, error, options.portalPath)
    else answerProblem(arrival, error)
  }

  function dispatch(result: GateResult<Route<Upstream>>, arrival: Arrival): void {
    if (result instanceof GatehouseError) refuse(arrival, result)
    else forwardToUpstream(result, arrival)
  }

  return function proxy(arrival) {
    const result = gate(arrival)
    if (!(result instanceof Promise)) {
      dispatch(result, arrival)
      return
    }
    result
      .then((settled) => {
        // The client may have disconnected in the meantime.
        if (arrival.connection.head === arrival.head) dispatch(settled, arrival)
      })
      .catch((error: unknown) => {
        if (arrival.connection.head === arrival.head) answerProblem(arrival, toGatehouseError(error))
      })
  }
}

interface ProxiedRequest extends ForwardedRequest {
  readonly arrival: Arrival
}

function createEvents(onUpgraded: UpgradeHandler): ForwardEvents<ProxiedRequest> {
  return {
    onSent: ({ arrival }, now) => {
      recordSent(arrival.outcome, now)
    },
    onResponseHead: ({ arrival }, status) => {
      recordStatus(arrival.outcome, status)
    },
    onResponseEnd: ({ arrival }) => {
      recordAnswered(arrival.outcome, performance.now())
    },
    onFailed: ({ arrival }, error) => {
      answerProblem(arrival, error instanceof GatehouseError ? error : brokenBodyError(error))
    },
    onUpgraded: ({ arrival }, accepted) => {
      recordAnswered(arrival.outcome, performance.now())
      onUpgraded({ arrival, accepted })
    },
  }
}
