import type { Server } from 'node:net'
import { GatehouseError } from '../errors.ts'
import type { TrustedProxies } from '../proxy/client.ts'
import type { ClientConnection } from '../wire/client-connection.ts'
import type { Unreadable } from '../wire/connection-events.ts'
import { createListener, type ListenerTerms } from '../wire/listener.ts'
import type { RequestHead } from '../wire/request-head.ts'
import { type Arrival, createArrival, type Destination, readDestination } from './arrival.ts'
import { answerPreflight, type Cors } from './cors.ts'
import type { Observer } from './observe.ts'
import { answerAboutServer, isAboutServer } from './options.ts'
import { createOwnEndpoints, type OwnScope } from './own-endpoints.ts'
import type { OwnPaths } from './own-paths.ts'
import { answerProblem, toGatehouseError } from './problem.ts'
import type { CarryOut } from './proxy.ts'
import { refusePlainHttp, refuseUnreadable } from './unreadable.ts'

/** The terms of the listener for clients. */
export interface ServerTerms {
  readonly requestTimeoutMs: number
  readonly keepAliveTimeoutMs: number
  readonly headersBytesMax: number
  /** Bytes a second. */
  readonly bodyRateMin: number
  /** What clients are shown, both in PEM; undefined = plain HTTP. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined
}

export interface GatewayServerOptions extends ServerTerms {
  /** 48 bytes that seal TLS sessions, so that another worker can resume them; default: random ones. */
  readonly ticketKeys?: Buffer | undefined
  readonly trusted: TrustedProxies
  readonly observer: Observer
  /** The paths whose requests are for `api`. */
  readonly ownPaths: Pick<OwnPaths, 'has'>
  readonly api: OwnScope
  readonly proxy: CarryOut
  /** Asked for each request; undefined = CORS is left to the upstreams. */
  cors(): Cors | undefined
  /** Whether answers are to say that the connection ends: asked for each answer. */
  isDraining(): boolean
  /** A connection could not be taken. */
  onAcceptError(error: Error): void
  /** Asked for each connection: whether it is to be taken beside so many. */
  mayAccept(openConnections: number): boolean
  /** A connection was closed as soon as it came, as it could not be taken. */
  onDropped(): void
}

export interface GatewayServer {
  readonly server: Server
  readonly connections: ReadonlySet<ClientConnection>
  /** The requests that have not been answered yet. */
  active(): readonly Arrival[]
  /** From now on the gateway's own answers that have not begun say that the connection ends. */
  startDrain(): void
  /** Answers an unanswered request with a problem; an answer that has begun is broken off. */
  giveUp(arrival: Arrival, error: GatehouseError): void
  /**
   * Takes new terms from now on; whether there is TLS cannot change.
   * @throws where TLS cannot use the certificate: nothing has changed then
   */
  adapt(terms: ServerTerms): void
}

/**
 * The request that a connection is busy with. A map of busy connections would change with every request: whenever V8
 * rehashes it, the old table refers to the new one and its entries, and once an old table is in the old generation
 * these requests are only freed by a full collection (measured: 7 to 10 % of the CPU, 20 ms pauses).
 */
interface Place {
  arrival: Arrival | undefined
}

/** The main listener: every request comes in here, and goes on to the scope that its path belongs to. */
export function createGatewayServer(options: GatewayServerOptions): GatewayServer {
  const { trusted, observer, ownPaths, proxy, ticketKeys, cors: corsInForce } = options
  const places = new WeakMap<ClientConnection, Place>()
  const own = createOwnEndpoints(options.api)

  function onRequest(connection: ClientConnection, head: RequestHead): void {
    const arrival = createArrival(connection, head, trusted)
    observer.begin()
    placeOf(connection).arrival = arrival
    try {
      carryOut(arrival)
    } catch (error) {
      answerProblem(arrival, toGatehouseError(error))
    }
  }

  function carryOut(arrival: Arrival): void {
    // CONNECT need not name a path, and no scope takes it.
    if (arrival.head.method === 'CONNECT' && !arrival.head.target.startsWith('/')) {
      throw new GatehouseError('method-not-allowed', { allow: [] })
    }
    const cors = corsInForce()
    // Before anything can fail: a page must be able to read the problem.
    if (cors) arrival.crossOrigin = cors.of(arrival.head.rawHeaders)
    if (isAboutServer(arrival.head)) {
      answerAboutServer(arrival)
      return
    }
    const destination = readDestination(arrival)
    if (cors && governs(cors, arrival, destination)) return
    if (ownPaths.has(destination.target.path)) own.carryOut(arrival)
    else proxy(arrival, destination)
  }

  /** Answers a preflight. @returns whether the request was one */
  function governs(cors: Cors, arrival: Arrival, destination: Destination): boolean {
    const { head, crossOrigin } = arrival
    const preflight = crossOrigin && cors.preflight(head, destination, crossOrigin)
    if (preflight) answerPreflight(arrival, preflight)
    else if (!cors.isOpen(destination.target.path)) arrival.crossOrigin = undefined
    return preflight !== undefined
  }

  function giveUp(arrival: Arrival, error: GatehouseError): void {
    if (own.giveUp(arrival, error)) return
    arrival.connection.takeBack()
    answerProblem(arrival, error)
  }

  function placeOf(connection: ClientConnection): Place {
    const known = places.get(connection)
    if (known) return known
    const place = { arrival: undefined }
    places.set(connection, place)
    return place
  }

  function onUnreadable(connection: ClientConnection, what: Unreadable): void {
    observer.refuse(connection.peerAddress, refuseUnreadable(connection, what))
  }

  function answerInPlain(peerAddress: string): string {
    const { answer, ...refusal } = refusePlainHttp()
    observer.refuse(peerAddress, refusal)
    return answer
  }

  function onEnd(connection: ClientConnection, isComplete: boolean): void {
    const place = placeOf(connection)
    const { arrival } = place
    if (!arrival) return
    place.arrival = undefined
    observer.end(arrival, isComplete)
  }

  const { server, connections, adapt } = createListener({
    ...listenerTerms(options),
    onRequest,
    onUnreadable,
    onEnd,
    isDraining: options.isDraining,
    onAcceptError: options.onAcceptError,
    mayAccept: options.mayAccept,
    onDropped: options.onDropped,
    answerInPlain,
  })

  function listenerTerms(terms: ServerTerms): ListenerTerms {
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
    giveUp,
    active: () => [...connections].flatMap((connection) => places.get(connection)?.arrival ?? []),
    adapt: (terms) => adapt(listenerTerms(terms)),
  }
}
