import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { GatehouseError } from '../errors.ts'
import type { TrustedProxies } from '../proxy/client.ts'
import { ownPaths } from './api.ts'
import { createArrival, readDestination } from './arrival.ts'
import { answerBrokenRequest } from './broken-request.ts'
import type { Observer } from './observe.ts'
import { sendProblem, toGatehouseError } from './problem.ts'
import { createUpgradeResponse } from './upgrade.ts'

export interface GatewayServerOptions {
  readonly requestTimeoutMs: number
  readonly keepAliveTimeoutMs: number
  readonly headersBytesMax: number
  readonly trusted: TrustedProxies
  readonly observer: Observer
  readonly api: FastifyInstance
  readonly proxy: FastifyInstance
  /** Whether an upgrade request is for a route that takes it; if not it is an ordinary one. */
  takesUpgrade(request: IncomingMessage): boolean
  /** Whether answers are to say that the connection ends: asked for each. */
  isDraining(): boolean
}

/** How often Node looks for requests that take too long to arrive. */
const checkIntervalMs = 500
const keepAliveDelayMs = 30_000

export interface GatewayServer {
  readonly server: Server
  /** Answers that have not ended yet. */
  readonly active: ReadonlySet<ServerResponse>
}

/** The main listener: every request comes in here, and goes to the scope that its path belongs to. */
export function createGatewayServer(options: GatewayServerOptions): GatewayServer {
  const { trusted, observer, api, proxy, takesUpgrade, isDraining } = options
  const active = new Set<ServerResponse>()

  function receive(request: IncomingMessage, response: ServerResponse): void {
    createArrival(request, trusted)
    observer.begin()
    active.add(response)
    response.once('close', () => {
      active.delete(response)
      observer.end(request, response)
    })
    if (isDraining()) response.shouldKeepAlive = false
    try {
      if (request.method === 'TRACE') throw new GatehouseError('method-not-allowed', { allow: [] })
      const { target } = readDestination(request)
      const scope = ownPaths.has(target.path) ? api : proxy
      scope.routing(request, response)
    } catch (error) {
      sendProblem(request, response, toGatehouseError(error))
    }
  }

  const server = createServer(serverOptions(options, takesUpgrade), receive)
  // With a listener Node sends no 100 by itself: it is sent when the body is wanted.
  server.on('checkContinue', receive)
  // Other expectations are the upstream's to judge.
  server.on('checkExpectation', receive)
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) =>
    receive(request, createUpgradeResponse(request, { socket, head })),
  )
  server.on('connect', (_request: IncomingMessage, socket: Socket) =>
    answerBrokenRequest(socket, new GatehouseError('method-not-allowed', { allow: [] })),
  )
  server.on('clientError', (error: Error, socket: Socket) => answerBrokenRequest(socket, error))
  // As many header fields as fit: what is cut off silently could be what counts.
  server.maxHeadersCount = 0
  return { server, active }
}

function serverOptions(
  { requestTimeoutMs, keepAliveTimeoutMs, headersBytesMax }: GatewayServerOptions,
  takesUpgrade: (request: IncomingMessage) => boolean,
): ServerOptions {
  return {
    headersTimeout: requestTimeoutMs,
    // A body may take as long as it moves: upstream and JSON scope watch for silence.
    requestTimeout: 0,
    connectionsCheckingInterval: checkIntervalMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    maxHeaderSize: headersBytesMax,
    // Host is judged with the rest of the request, so that its absence gets an answer like any other.
    requireHostHeader: false,
    shouldUpgradeCallback: takesUpgrade,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: keepAliveDelayMs,
  }
}
