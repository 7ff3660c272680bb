import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyHttpProxyOptions } from '@fastify/http-proxy'
import type { FastifyInstance } from 'fastify'
import type { WebSocket } from 'ws'
import { isWebSocketUpgrade } from '#gateway/gate/upgrades.ts'
import { readRequestTarget } from '#gateway/routes/request-target.ts'
import type { RouteTable } from '#gateway/routes/table.ts'
import { fieldsIn } from '#http/request-head.ts'
import { readAppArrival } from '../app-arrival.ts'
import type { AppParts } from '../open-app-parts.ts'
import { exchangeOf } from './exchange.ts'
import { requireOfHttpProxy } from './http-client.ts'
import { type ProxyRoute, type ProxyUpstream, tlsOptionsOf } from './proxy-options.ts'

/** One of the two WebSockets that http-proxy joins. */
type Side = WebSocket

/** The connection of one side, which `ws` keeps under this name but omits from its types. */
function socketOf(side: Side): Socket | undefined {
  return (side as { readonly _socket?: Socket })._socket
}

/** Internal error (RFC 6455 7.4.1), which http-proxy closes with when it cannot reach the backend. */
const internalErrorCode = 1011
/** How long the sides may take to close after the Close frame. */
const closeTimeoutMs = 2_000
/** How much is buffered for a side that reads slowly, before the other side is no longer read. */
const bufferedBytesMax = 1_048_576
/** `ws` does not accept Infinity. */
const messageBytesMax = 2 ** 31 - 1

/** Creates the options of http-proxy for the WebSockets of a prefix. */
export function createWebSocketOptions(
  app: FastifyInstance,
  parts: AppParts,
  table: () => RouteTable<ProxyUpstream>,
) {
  let isPrepared = false

  function onConnect(_context: unknown, source: Side, target: Side): void {
    const socket = socketOf(source)
    const request = socket && requests.get(socket)
    const exchange = request && exchangeOf(request)
    // http-proxy accepts the client first, so it may have left before the backend has answered.
    if (!exchange || source.readyState !== source.OPEN) {
      source.terminate()
      target.terminate()
      return
    }
    parts.openCallers.followTunnel(exchange.arrival, (onClosed) => {
      source.once('close', onClosed)
      return { close: (code, reason) => closeBoth([source, target], code, reason) }
    })
  }

  return (route: ProxyRoute) => {
    if (!isPrepared) upgradeWebSocketsOnly(app, parts, table)
    isPrepared = true
    const maxPayload = Math.min(route.bodyBytesMax, messageBytesMax)
    const { tls, connectTimeoutMs } = route.upstream
    return {
      websocket: true as const,
      // The cast is sound: the types want the whole module of `ws` as the class, which is used as a class only.
      wsServerOptions: {
        maxPayload,
        WebSocket: clientSideClass(),
      } as FastifyHttpProxyOptions['wsServerOptions'] & object,
      wsClientOptions: {
        maxPayload,
        perMessageDeflate: false,
        handshakeTimeout: connectTimeoutMs,
        ...tlsOptionsOf(route.upstream),
        ...(tls.serverName !== undefined && { servername: tls.serverName }),
        rewriteRequestHeaders: (_headers: unknown, { raw }: { readonly raw: IncomingMessage }) =>
          webSocketHeaders(raw),
      },
      wsHooks: {
        onConnect,
        onIncomingMessage: (_context: unknown, source: Side, target: Side) => slowDown(source, target),
        onOutgoingMessage: (_context: unknown, source: Side, target: Side) => slowDown(target, source),
      },
    }
  }
}

/** The upgrades that are being forwarded, by connection. */
const requests = new WeakMap<Socket, IncomingMessage>()

/** Fields that the client of `ws` sets itself for this handshake. */
const handshakeField = /^sec-websocket-(?!protocol)|^sec-websocket-protocol$|^content-length$/i

function webSocketHeaders(request: IncomingMessage): Record<string, string> {
  const exchange = exchangeOf(request)
  if (!exchange) throw new Error('gatehouse: this upgrade was not admitted')
  requests.set(request.socket, request)
  const headers: Record<string, string> = Object.create(null)
  for (const [name, value] of fieldsIn(exchange.fields)) {
    if (handshakeField.test(name)) continue
    const known = Object.keys(headers).find((each) => each.toLowerCase() === name.toLowerCase())
    if (known === undefined) headers[name] = value
    else headers[known] += `${known.toLowerCase() === 'cookie' ? ';' : ','} ${value}`
  }
  return headers
}

/** The client's side, which is not told why the backend cannot be reached, as that would name its address. */
function clientSideClass(): typeof WebSocket {
  // The cast is sound: this is what `ws` exports.
  const ws = requireOfHttpProxy('ws') as { readonly WebSocket: typeof WebSocket }
  return class ClientSide extends ws.WebSocket {
    override close(code?: number, reason?: string | Buffer): void {
      if (code === internalErrorCode) super.close(code)
      else super.close(code, reason)
    }
  }
}

function closeBoth(sides: readonly Side[], code: number, reason: string): void {
  for (const side of sides) side.close(code, reason)
  setTimeout(() => {
    for (const side of sides) side.terminate()
  }, closeTimeoutMs).unref()
}

/** Stops reading one side while the other has much left to read. */
function slowDown(from: Side, to: Side): void {
  const socket = socketOf(to)
  if (to.bufferedAmount <= bufferedBytesMax || !socket) return
  from.pause()
  socket.once('drain', () => from.resume())
}

/** Whether a response is being written, which Node keeps on the socket but omits from its types. */
function isAnswering(socket: Socket): boolean {
  return (socket as { readonly _httpMessage?: object | null })._httpMessage != null
}

/**
 * Node passes every request with an Upgrade to the listeners for upgrades. There, http-proxy would answer other
 * protocols with an error, and would not answer at all on a prefix without WebSockets: both are treated as ordinary
 * requests.
 */
function upgradeWebSocketsOnly(
  app: FastifyInstance,
  parts: AppParts,
  table: () => RouteTable<ProxyUpstream>,
): void {
  // The cast is sound: Node has this property since 24.9, and calls it with the server.
  const server = app.server as typeof app.server & {
    shouldUpgradeCallback(request: IncomingMessage): boolean
  }
  const before = server.shouldUpgradeCallback
  server.shouldUpgradeCallback = (request) => {
    // http-proxy throws if an earlier request of the connection is still being answered, and nobody would catch it.
    if (isAnswering(request.socket) || !before.call(server, request)) return false
    const target = readRequestTarget(request.url ?? '')
    const match = typeof target === 'string' ? undefined : table().match('', target, request.method ?? '')
    if (match?.kind !== 'route') return true
    return match.route.websocket && isWebSocketUpgrade(readAppArrival(request, parts.reader).head)
  }
}
