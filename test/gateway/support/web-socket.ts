import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { createRequire } from 'node:module'
import type { Test } from 'tap'
import { portOf } from '../../setup/net.ts'

/** The value of Sec-WebSocket-Accept for that of Sec-WebSocket-Key (RFC 6455 4.2.2). */
export function acceptOf(key: string | undefined): string {
  return createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
}

/** The part of a WebSocket of the ws package that tests use: it brings no types of its own. */
export interface WebSocket {
  readonly protocol: string
  send(data: string | Uint8Array, options?: { readonly fin?: boolean; readonly binary?: boolean }): void
  ping(data?: string): void
  close(code?: number, reason?: string): void
  terminate(): void
  on(event: 'message', listener: (data: Buffer, isBinary: boolean) => void): this
  on(event: 'ping' | 'pong', listener: (data: Buffer) => void): this
  on(event: 'close', listener: (code: number, reason: Buffer) => void): this
  on(event: 'error', listener: (error: Error) => void): this
  on(event: 'open', listener: () => void): this
  on(event: 'unexpected-response', listener: (request: unknown, response: IncomingMessage) => void): this
}

interface Ws {
  readonly WebSocket: new (
    url: string,
    protocols: readonly string[],
    options: {
      readonly headers?: Readonly<Record<string, string>>
      readonly perMessageDeflate?: boolean
      readonly ca?: string | undefined
    },
  ) => WebSocket
  readonly WebSocketServer: new (options: {
    readonly server: Server
    readonly perMessageDeflate?: boolean
    handleProtocols?(offered: ReadonlySet<string>): string | false
    verifyClient?(info: { readonly req: IncomingMessage }): boolean
  }) => {
    on(event: 'connection', listener: (socket: WebSocket, request: IncomingMessage) => void): unknown
  }
}

// The cast is sound: these are the documented forms of ws 8.
const ws = createRequire(import.meta.url)('ws') as Ws

export interface WebSocketBackend {
  readonly url: string
  /** Upgrade requests that were taken, and what became of them. */
  readonly upgrades: IncomingMessage[]
  readonly sockets: WebSocket[]
  /** Requests that asked for nothing of the kind. */
  readonly ordinary: IncomingMessage[]
}

/** A real WebSocket server that sends every message back; it refuses the path `/ws/refused`. */
export async function startWebSocketBackend(t: Test): Promise<WebSocketBackend> {
  const backend = { upgrades: [], sockets: [], ordinary: [] } as Omit<WebSocketBackend, 'url'>
  const server = createServer((request, response) => {
    backend.ordinary.push(request)
    response.end('ordinary')
  })
  const webSockets = new ws.WebSocketServer({
    server,
    perMessageDeflate: true,
    handleProtocols: (offered) => (offered.has('chat') ? 'chat' : false),
    verifyClient: ({ req }) => req.url !== '/ws/refused',
  })
  webSockets.on('connection', (socket, request) => {
    backend.upgrades.push(request)
    backend.sockets.push(socket)
    socket.on('error', () => {})
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of backend.sockets) socket.terminate()
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${portOf(server)}`, ...backend }
}

export interface WebSocketOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly protocols?: readonly string[]
  readonly perMessageDeflate?: boolean
  /** Whom to trust, for wss. */
  readonly ca?: string
}

/** Begins to open a WebSocket through the gateway; gone with the test. */
export function dialWebSocket(t: Test, url: string, options: WebSocketOptions = {}): WebSocket {
  const { protocols = [], headers = {}, perMessageDeflate = false, ca } = options
  const socket = new ws.WebSocket(url.replace(/^http/, 'ws'), protocols, { headers, perMessageDeflate, ca })
  socket.on('error', () => {})
  t.teardown(() => socket.terminate())
  return socket
}

/** An open WebSocket; rejects with the response that refused it. */
export async function openWebSocket(t: Test, url: string, options?: WebSocketOptions): Promise<WebSocket> {
  const socket = dialWebSocket(t, url, options)
  await new Promise<void>((resolve, reject) => {
    socket.on('open', resolve)
    socket.on('error', reject)
  })
  return socket
}

/** What a WebSocket has received, in order. */
export interface Received {
  readonly messages: { readonly data: Buffer; readonly isBinary: boolean }[]
  readonly pings: string[]
  readonly pongs: string[]
  readonly closes: { readonly code: number; readonly reason: string }[]
}

/** Records all that a WebSocket receives from now on. */
export function record(socket: WebSocket | undefined): Received {
  const received: Received = { messages: [], pings: [], pongs: [], closes: [] }
  if (!socket) throw new Error('there is no WebSocket')
  socket.on('message', (data, isBinary) => void received.messages.push({ data, isBinary }))
  socket.on('ping', (data) => void received.pings.push(data.toString()))
  socket.on('pong', (data) => void received.pongs.push(data.toString()))
  socket.on('close', (code, reason) => void received.closes.push({ code, reason: reason.toString() }))
  return received
}

/** The lines of an upgrade request (RFC 6455 1.2), for those who want to write it themselves. */
export const upgradeLines: readonly string[] = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
]
