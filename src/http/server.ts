import type { Server } from 'node:net'
import type { GatehouseError } from '../errors/gatehouse-error.ts'
import type { ClientConnection } from '../http1/client-connection.ts'
import type { Unreadable } from '../http1/connection-events.ts'
import { createListener, type ReloadableListenerOptions } from '../http1/listener.ts'
import type { RequestHead } from '../http1/request-head.ts'
import { standardMethods } from '../routes/route.ts'
import { type Arrival, type ArrivalReader, createArrival } from './arrival.ts'
import { chooseScope, type ScopeOptions } from './choose-scope.ts'
import { answerPreflight } from './cors.ts'
import type { Observer } from './observe.ts'
import { answerOptions } from './options-request.ts'
import { createOwnEndpoints, type EndpointRouter } from './own-endpoints.ts'
import { answerProblem, toGatehouseError } from './problem.ts'
import type { ProxyHandler } from './proxy.ts'
import { refusePlainHttp, refuseUnreadable } from './unreadable.ts'

/** Options of the client listener. */
export interface ServerOptions {
  readonly requestTimeoutMs: number
  readonly keepAliveTimeoutMs: number
  readonly headersBytesMax: number
  /** Bytes per second. */
  readonly bodyRateMin: number
  /** Certificate and key, both in PEM; undefined = plain HTTP. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined
}

/** How requests are handled under one config. A reload replaces it as a whole: no request meets two of them. */
export interface Traffic extends ScopeOptions, ArrivalReader {
  readonly observer: Observer
  /** The built-in endpoints. */
  readonly api: EndpointRouter
  readonly proxy: ProxyHandler
}

export interface GatewayServerOptions extends ServerOptions {
  /** 48 bytes that seal TLS sessions, so that another worker can resume them; default: random ones. */
  readonly ticketKeys?: Buffer | undefined
  /** Read once for each request. */
  traffic(): Traffic
  /** Whether responses get `Connection: close`: called for each response. */
  isDraining(): boolean
  /** A connection could not be accepted. */
  onAcceptError(error: Error): void
  /** Called for each connection: whether to accept it in addition to so many. */
  mayAccept(openConnections: number): boolean
  /** A connection was closed immediately, because it was not accepted. */
  onDropped(): void
}

export interface GatewayServer {
  readonly server: Server
  readonly connections: ReadonlySet<ClientConnection>
  /** The requests that have not been answered yet. */
  inFlight(): readonly Arrival[]
  /** From now on the gateway's own responses that have not started have `Connection: close`. */
  startDrain(): void
  /** Answers an unanswered request with a problem; a started response is aborted. */
  abort(arrival: Arrival, error: GatehouseError): void
  /**
   * Applies new options; whether TLS is used cannot change.
   * @throws where TLS cannot use the certificate: nothing has changed then
   */
  reconfigure(options: ServerOptions): void
}

/**
 * The request that a connection is serving. A map of busy connections would change with every request: whenever V8
 * rehashes it, the old table refers to the new one and its entries, and once an old table is in the old generation
 * these requests are only freed by a full collection (measured: 7 to 10 % of the CPU, 20 ms pauses).
 */
interface CurrentRequest {
  arrival: Arrival | undefined
  /** The observer that recorded its start. Not all of Traffic: a WebSocket would keep it past a reload. */
  observer: Observer | undefined
}

/** The main listener: every request arrives here, and is dispatched by its path. */
export function createGatewayServer(options: GatewayServerOptions): GatewayServer {
  const { ticketKeys } = options
  const currentRequests = new WeakMap<ClientConnection, CurrentRequest>()
  const own = createOwnEndpoints()

  function onRequest(connection: ClientConnection, head: RequestHead): void {
    const traffic = options.traffic()
    const arrival = createArrival(connection, head, traffic)
    traffic.observer.begin()
    const current = currentRequestOf(connection)
    current.arrival = arrival
    current.observer = traffic.observer
    try {
      routeRequest(arrival, traffic)
    } catch (error) {
      answerProblem(arrival, toGatehouseError(error))
    }
  }

  function routeRequest(arrival: Arrival, traffic: Traffic): void {
    const scope = chooseScope(arrival, traffic)
    switch (scope) {
      case 'server':
        answerOptions(arrival, standardMethods)
        return
      case 'own':
        own.handle(arrival, traffic.api)
        return
      case 'routes':
        traffic.proxy(arrival)
        return
      default:
        answerPreflight(arrival, scope)
    }
  }

  function abort(arrival: Arrival, error: GatehouseError): void {
    if (own.abort(arrival, error)) return
    arrival.connection.detach()
    answerProblem(arrival, error)
  }

  function currentRequestOf(connection: ClientConnection): CurrentRequest {
    const existing = currentRequests.get(connection)
    if (existing) return existing
    const current = { arrival: undefined, observer: undefined }
    currentRequests.set(connection, current)
    return current
  }

  function onUnreadable(connection: ClientConnection, what: Unreadable): void {
    const refusal = refuseUnreadable(connection, what)
    options.traffic().observer.recordUnreadable(connection.peerAddress, refusal)
  }

  function answerPlainHttp(peerAddress: string): string {
    const { answer, ...refusal } = refusePlainHttp()
    options.traffic().observer.recordUnreadable(peerAddress, refusal)
    return answer
  }

  function onEnd(connection: ClientConnection, isComplete: boolean): void {
    const current = currentRequestOf(connection)
    const { arrival, observer } = current
    if (!arrival) return
    current.arrival = undefined
    observer?.end(arrival, isComplete)
  }

  const { server, connections, adapt } = createListener({
    ...listenerOptions(options),
    onRequest,
    onUnreadable,
    onEnd,
    isDraining: options.isDraining,
    onAcceptError: options.onAcceptError,
    mayAccept: options.mayAccept,
    onDropped: options.onDropped,
    answerPlainHttp,
  })

  function listenerOptions(terms: ServerOptions): ReloadableListenerOptions {
    const { requestTimeoutMs, keepAliveTimeoutMs, headersBytesMax, bodyRateMin, tls } = terms
    return {
      requestTimeoutMs,
      keepAliveTimeoutMs,
      headBytesMax: headersBytesMax,
      bodyRateMin,
      tls: tls && { ...tls, minVersion: 'TLSv1.2', ...(ticketKeys && { ticketKeys }) },
    }
  }

  return {
    server,
    connections,
    startDrain: own.startDrain,
    abort,
    inFlight: () => [...connections].flatMap((connection) => currentRequests.get(connection)?.arrival ?? []),
    reconfigure: (terms) => adapt(listenerOptions(terms)),
  }
}
