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
import { plainAddress, type TrustedProxies } from '../proxy/client.ts'
import { type Arrival, createArrival, readDestination } from './arrival.ts'
import { answerBrokenRequest } from './broken-request.ts'
import { lineOf } from './line.ts'
import type { Observer } from './observe.ts'
import type { OwnPaths } from './own-paths.ts'
import { sendProblem, toGatehouseError } from './problem.ts'
import { createUpgradeResponse } from './upgrade.ts'

export interface GatewayServerOptions {
  readonly requestTimeoutMs: number
  readonly keepAliveTimeoutMs: number
  readonly headersBytesMax: number
  readonly trusted: TrustedProxies
  readonly observer: Observer
  /** Which requests are for `api`. */
  readonly ownPaths: OwnPaths
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
/** Of a head: what stands around method, target and fields. */
const frameBytes = '  HTTP/1.1\r\n\r\n'.length

export interface GatewayServer {
  readonly server: Server
  /** Answers that have not ended yet. */
  readonly active: ReadonlySet<ServerResponse>
}

/** The main listener: every request comes in here, and goes to the scope that its path belongs to. */
export function createGatewayServer(options: GatewayServerOptions): GatewayServer {
  const { trusted, observer, ownPaths, api, proxy, isDraining, headersBytesMax } = options
  const active = new Set<ServerResponse>()

  function receive(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request
    const line = lineOf(socket)
    if (line.current) line.wait(() => carryOut(request, response))
    // Behind a request that ends the connection nothing is a request.
    else if (socket.writable) carryOut(request, response)
  }

  function receiveUpgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const line = lineOf(socket)
    const turn = () => carryOut(request, createUpgradeResponse(request, { socket, head }))
    if (line.current) line.wait(turn)
    else if (socket.writable) turn()
  }

  function carryOut(request: IncomingMessage, response: ServerResponse): void {
    const line = lineOf(request.socket)
    const arrival = createArrival(request, trusted)
    line.current = response
    observer.begin()
    active.add(response)
    response.once('close', () => {
      active.delete(response)
      observer.end(request, response)
      line.next()
    })
    if (isDraining()) response.shouldKeepAlive = false
    try {
      const unreadable = findUnreadable(request, arrival, headersBytesMax)
      if (unreadable) {
        response.shouldKeepAlive = false
        throw unreadable
      }
      scopeOf(request).routing(request, response)
    } catch (error) {
      sendProblem(request, response, toGatehouseError(error))
    }
  }

  function scopeOf(request: IncomingMessage): FastifyInstance {
    const { method } = request
    if (method === 'CONNECT') throw new GatehouseError('method-not-allowed', { allow: [] })
    if (ownPaths.has(readDestination(request).target.path)) return api
    if (method === 'TRACE') throw new GatehouseError('method-not-allowed', { allow: [] })
    return proxy
  }

  const server = createServer(serverOptions(options), receive)
  // With a listener Node sends no 100 by itself: it is sent when the body is wanted.
  server.on('checkContinue', receive)
  // Other expectations are the upstream's to judge.
  server.on('checkExpectation', receive)
  server.on('upgrade', receiveUpgrade)
  server.on('connect', receiveUpgrade)
  server.on('clientError', (error: Error, socket: Socket) => {
    const client = plainAddress(socket.remoteAddress ?? '')
    answerBrokenRequest(socket, error, (refusal) => observer.refuse(client, refusal))
  })
  // As many header fields as fit: what is cut off silently could be what counts.
  server.maxHeadersCount = 0
  return { server, active }
}

/** What keeps a request from being read in one way only, or is too long. */
function findUnreadable(
  { method = '', url = '', httpVersionMinor }: IncomingMessage,
  { fields }: Arrival,
  headersBytesMax: number,
): GatehouseError | undefined {
  const { headerBytes, transferEncoding } = fields
  // Node counts less than what is sent: neither the names' colons nor the ends of lines.
  if (method.length + url.length + frameBytes + headerBytes > headersBytesMax) {
    return new GatehouseError('headers-too-large')
  }
  if (transferEncoding === undefined) return undefined
  // RFC 9112 6.1: HTTP/1.0 knows no transfer coding, and what is not known cannot be read.
  if (httpVersionMinor !== 0 && transferEncoding.toLowerCase() === 'chunked') return undefined
  return new GatehouseError('request-invalid', { detail: 'No transfer coding but chunked is supported.' })
}

function serverOptions({
  requestTimeoutMs,
  keepAliveTimeoutMs,
  headersBytesMax,
  takesUpgrade,
}: GatewayServerOptions): ServerOptions {
  return {
    headersTimeout: requestTimeoutMs,
    // A body may take as long as it moves: upstream and JSON scope watch for silence.
    requestTimeout: 0,
    connectionsCheckingInterval: checkIntervalMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    maxHeaderSize: headersBytesMax,
    // Host is judged with the rest of the request, so that its absence gets an answer like any other.
    requireHostHeader: false,
    // An answer that is under way has the connection: behind it an upgrade is an ordinary request.
    shouldUpgradeCallback: (request) => !lineOf(request.socket).current && takesUpgrade(request),
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: keepAliveDelayMs,
  }
}
