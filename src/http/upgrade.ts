import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Upgrade } from '../proxy/forward.ts'
import { openTunnel, type Tunnel } from '../proxy/tunnel.ts'
import type { RouteTable } from '../routes/table.ts'
import { parseTarget } from '../routes/target.ts'
import { parseHost } from './host.ts'

/** What belongs to a request that asks to become a WebSocket. */
export interface UpgradeRequest {
  readonly socket: Socket
  /** Ends the waiting. @returns what the client has sent right behind its request */
  takeEarly(): Buffer
}

export interface AcceptedUpgrade {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly upgrade: UpgradeRequest
  readonly accepted: Upgrade
}

export type UpgradeHandler = (upgrade: AcceptedUpgrade) => void

const key = Symbol('upgrade')
/** How much a client may send before it has its answer. */
const earlyBytesMax = 65_536

/** RFC 6455 4.1; anything else in Upgrade is ignored. */
function asksForWebSocket({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket'
}

/** Whether a request asks to become a WebSocket on a route that takes them; if not it is an ordinary one. */
export function createUpgradeCheck(table: RouteTable<unknown>): (request: IncomingMessage) => boolean {
  return (request) => {
    if (!asksForWebSocket(request)) return false
    const target = parseTarget(request.url ?? '')
    const hostName = parseHost(request.headers.host ?? '')
    if (!target || hostName === undefined) return false
    const match = table.match(hostName, target, 'GET')
    return match.kind === 'route' && match.route.websocket
  }
}

/**
 * Makes the response of an upgrade request, which Node leaves to us: a refusal is written like any other,
 * and closes the connection.
 */
export function createUpgradeResponse(
  request: IncomingMessage,
  { socket, head }: { readonly socket: Socket; readonly head: Buffer },
): ServerResponse {
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  response.on('finish', () => {
    response.detachSocket(socket)
    socket.destroySoon()
  })
  socket.on('drain', () => response.emit('drain'))
  socket.on('error', () => socket.destroy())
  // Of a socket that it no longer holds a response is not told; as a WebSocket it is over only then, too.
  socket.on('close', () => response.emit('close'))
  const upgrade: UpgradeRequest = { socket, takeEarly: holdEarly(socket, head) }
  Object.assign(request, { [key]: upgrade })
  return response
}

/** Keeps what comes before the answer: only whoever reads notices that the client leaves. */
function holdEarly(socket: Socket, head: Buffer): () => Buffer {
  let early = head
  function hold(chunk: Buffer): void {
    early = Buffer.concat([early, chunk])
    if (early.length > earlyBytesMax) socket.pause()
  }
  function leave(): void {
    socket.destroy()
  }
  socket.on('data', hold).on('end', leave)
  return () => {
    socket.off('data', hold).off('end', leave)
    return early
  }
}

/** What createUpgradeResponse remembered; undefined for an ordinary request. */
export function upgradeOf(request: IncomingMessage): UpgradeRequest | undefined {
  // The cast is sound: createUpgradeResponse alone writes this key.
  return (request as { [key]?: UpgradeRequest })[key]
}

/** Answers 101 with the upstream's headers and joins both sockets. */
export function acceptUpgrade(
  { response, upgrade, accepted }: AcceptedUpgrade,
  onClosed: () => void,
): Tunnel {
  const { socket } = upgrade
  const early = upgrade.takeEarly()
  response.detachSocket(socket)
  response.statusCode = 101
  let lines = `HTTP/1.1 101 ${accepted.head.reason}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n`
  for (let index = 0; index + 1 < accepted.headers.length; index += 2) {
    lines += `${accepted.headers[index]}: ${accepted.headers[index + 1]}\r\n`
  }
  socket.write(`${lines}\r\n`, 'latin1')
  const tunnel = openTunnel(socket, accepted.upstreamSocket, onClosed)
  // What came early is the first of what passes.
  if (accepted.rest.length > 0) accepted.upstreamSocket.unshift(accepted.rest)
  if (early.length > 0) socket.unshift(early)
  socket.resume()
  return tunnel
}
