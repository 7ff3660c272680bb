import type { Server } from 'node:net'
import type { TlsOptions } from 'node:tls'
import type { FastifyInstance } from 'fastify'
import { GatehouseError } from '../errors.ts'
import type { TrustedProxies } from '../proxy/client.ts'
import type { ClientConnection } from '../wire/client-connection.ts'
import type { Unreadable } from '../wire/connection-events.ts'
import { createListener } from '../wire/listener.ts'
import type { RequestHead } from '../wire/request-head.ts'
import { ownPaths } from './api.ts'
import { type Arrival, createArrival, readDestination } from './arrival.ts'
import type { Observer } from './observe.ts'
import { createOwnEndpoints } from './own-endpoints.ts'
import { answerProblem, toGatehouseError } from './problem.ts'
import type { CarryOut } from './proxy.ts'
import { refuseUnreadable } from './unreadable.ts'

export interface GatewayServerOptions {
  readonly requestTimeoutMs: number
  readonly keepAliveTimeoutMs: number
  readonly headersBytesMax: number
  /** undefined = plain HTTP. */
  readonly tls?: TlsOptions | undefined
  readonly trusted: TrustedProxies
  readonly observer: Observer
  readonly api: FastifyInstance
  readonly proxy: CarryOut
  /** Whether answers are to say that the connection ends: asked for each. */
  isDraining(): boolean
  /** A connection could not be taken. */
  onAcceptError(error: Error): void
}

export interface GatewayServer {
  readonly server: Server
  readonly connections: ReadonlySet<ClientConnection>
  /** Requests that have not been answered. */
  readonly active: ReadonlyMap<ClientConnection, Arrival>
  /** Answers of the gateway itself that have not begun are to say that the connection ends. */
  startDrain(): void
}

/** The main listener: every request comes in here, and goes to the scope that its path belongs to. */
export function createGatewayServer(options: GatewayServerOptions): GatewayServer {
  const { trusted, observer, proxy, requestTimeoutMs, keepAliveTimeoutMs } = options
  const active = new Map<ClientConnection, Arrival>()
  const own = createOwnEndpoints(options.api)

  function onRequest(connection: ClientConnection, head: RequestHead): void {
    const arrival = createArrival(connection, head, trusted)
    observer.begin()
    active.set(connection, arrival)
    try {
      carryOut(arrival)
    } catch (error) {
      answerProblem(arrival, toGatehouseError(error))
    }
  }

  function carryOut(arrival: Arrival): void {
    // It need not name a path, and is taken nowhere.
    if (arrival.head.method === 'CONNECT' && !arrival.head.target.startsWith('/')) {
      throw new GatehouseError('method-not-allowed', { allow: [] })
    }
    const destination = readDestination(arrival)
    if (ownPaths.has(destination.target.path)) own.carryOut(arrival)
    else proxy(arrival, destination)
  }

  function onUnreadable(connection: ClientConnection, what: Unreadable): void {
    observer.refuse(connection.peerAddress, refuseUnreadable(connection, what))
  }

  function onEnd(connection: ClientConnection, isComplete: boolean): void {
    const arrival = active.get(connection)
    if (!arrival) return
    active.delete(connection)
    observer.end(arrival, isComplete)
  }

  const { server, connections } = createListener({
    ...{ requestTimeoutMs, keepAliveTimeoutMs, onRequest, onUnreadable, onEnd },
    headBytesMax: options.headersBytesMax,
    tls: options.tls,
    isDraining: options.isDraining,
    onAcceptError: options.onAcceptError,
  })
  return { server, connections, active, startDrain: own.startDrain }
}
