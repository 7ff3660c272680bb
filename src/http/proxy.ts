import { GatehouseError } from '../errors.ts'
import { forward } from '../proxy/forward.ts'
import type { ForwardEvents, Forwarding } from '../proxy/forwarding.ts'
import { readMaxForwards, withMaxForwards } from '../proxy/max-forwards.ts'
import { isLastOnItsConnection, type RequestWriter } from '../proxy/request-head.ts'
import { forwardedTarget, type Route, usualMethods } from '../routes/route.ts'
import type { RouteTable } from '../routes/table.ts'
import type { Tracer } from '../tracing/tracer.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { type Arrival, type Destination, principalOf } from './arrival.ts'
import { asksForPage } from './error-page.ts'
import { findRoute } from './find-route.ts'
import { createGate, type GateOptions, type Passage } from './gate.ts'
import { answerOptions } from './options.ts'
import { answerErrorPage, answerProblem, toGatehouseError } from './problem.ts'
import { brokenBodyError } from './unreadable.ts'
import { asksForWebSocket, type UpgradeHandler } from './upgrade.ts'

export interface ProxyOptions extends Omit<GateOptions<Route<Upstream>>, 'findRoute'> {
  readonly table: RouteTable<Upstream>
  readonly writer: RequestWriter
  /** undefined = traceparent is passed on as it is. */
  readonly tracer: Tracer | undefined
  readonly onUpgraded: UpgradeHandler
  /** The path of the portal; undefined = there is none. */
  readonly portalPath: string | undefined
}

/**
 * Carries out a request that is not for the gateway itself.
 * @throws GatehouseError where it cannot be decided or carried out now
 */
export type CarryOut = (arrival: Arrival, destination: Destination) => void

/**
 * The raw scope: no body is parsed or read here. A request finds its route, is authenticated and authorised, and only
 * then forwarded.
 */
export function createProxy(options: ProxyOptions): CarryOut {
  const { table, writer, onUpgraded, tracer } = options
  const gate = createGate<Route<Upstream>>({
    ...options,
    findRoute: (arrival, destination) => findRoute(table, arrival, destination),
  })
  const events = createEvents(onUpgraded)

  function pass(route: Route<Upstream>, arrival: Arrival, destination: Destination): void {
    const { connection, head, outcome, fields, client, requestId } = arrival
    const { body } = head
    if (body.kind === 'counted' && body.length > route.bodyBytesMax)
      throw new GatehouseError('body-too-large')
    const forwardsLeft = readMaxForwards(head)
    if (forwardsLeft === 0) {
      answerOptions(arrival, route.methods ?? usualMethods)
      return
    }
    const isUpgrade = route.websocket && asksForWebSocket(head)
    const isLast = isLastOnItsConnection(head, route)
    const { connectionNames, host = '' } = fields
    outcome.upstream = route.upstream.name
    if (tracer) arrival.trace = tracer.begin(head.rawHeaders)
    const sentHeaders = arrival.trace?.rawHeaders ?? head.rawHeaders
    const rawHeaders = forwardsLeft === undefined ? sentHeaders : withMaxForwards(sentHeaders, forwardsLeft)
    forward(
      {
        arrival,
        connection,
        head,
        upstream: route.upstream,
        target: forwardedTarget(route, destination.target),
        headerLines: writer.writeHead({
          rawHeaders,
          isFamiliar: head.isFamiliar && rawHeaders === head.rawHeaders,
          route,
          principal: principalOf(arrival),
          client,
          requestId,
          body,
          connectionNames,
          isUpgrade,
          isLast,
          minorVersion: head.minorVersion,
        }),
        isLast,
        writeTrailers: route.passesTrailers ? writer.writeTrailers : undefined,
        host,
        client,
        accountId: principalOf(arrival)?.accountId,
        bodyBytesMax: route.bodyBytesMax,
        responseTimeoutMs: route.responseTimeoutMs,
        isUpgrade,
        crossOrigin: arrival.crossOrigin,
      },
      events,
    )
  }

  /** A person who typed the address of the gateway sees a page. */
  function refuse(arrival: Arrival, error: GatehouseError): void {
    const isForPerson = error.code === 'route-not-found' && asksForPage(arrival.head)
    if (isForPerson) answerErrorPage(arrival, error, options.portalPath)
    else answerProblem(arrival, error)
  }

  function go(passage: Passage<Route<Upstream>>, arrival: Arrival, destination: Destination): void {
    if (passage instanceof GatehouseError) refuse(arrival, passage)
    else pass(passage, arrival, destination)
  }

  return function proxy(arrival, destination) {
    const passage = gate(arrival, destination)
    if (!(passage instanceof Promise)) {
      go(passage, arrival, destination)
      return
    }
    passage
      .then((settled) => {
        // The client may have left in the meantime.
        if (arrival.connection.head === arrival.head) go(settled, arrival, destination)
      })
      .catch((error: unknown) => {
        if (arrival.connection.head === arrival.head) answerProblem(arrival, toGatehouseError(error))
      })
  }
}

interface Proxied extends Forwarding {
  readonly arrival: Arrival
}

function createEvents(onUpgraded: UpgradeHandler): ForwardEvents<Proxied> {
  return {
    onSent: ({ arrival }, now) => {
      arrival.outcome.sentAt = now
    },
    onAnswered: ({ arrival }, status) => {
      arrival.outcome.status = status
    },
    onForwarded: ({ arrival }) => {
      arrival.outcome.answeredAt = performance.now()
    },
    onFailed: ({ arrival }, error) => {
      answerProblem(arrival, error instanceof GatehouseError ? error : brokenBodyError(error))
    },
    onUpgraded: ({ arrival }, accepted) => {
      arrival.outcome.answeredAt = performance.now()
      onUpgraded({ arrival, accepted })
    },
  }
}
