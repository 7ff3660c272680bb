import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createNetServer, type Socket } from 'node:net'
import type { Test } from 'tap'
import { portOf } from './net.ts'

/** A request as a backend got it. */
export interface ReceivedRequest {
  readonly method: string
  readonly url: string
  /** Name, value, name, value, as they arrived. */
  readonly rawHeaders: readonly string[]
  readonly headers: IncomingMessage['headers']
  readonly trailers: IncomingMessage['trailers']
  readonly body: string
}

export interface Backend {
  readonly url: string
  /** Every request it has answered, in order. */
  readonly seen: ReceivedRequest[]
  last(): ReceivedRequest
}

export type Answer = (request: IncomingMessage, response: ServerResponse, seen: ReceivedRequest) => void

/** A real HTTP server behind the gateway that records what it got; it answers `ok` by default. */
export async function startBackend(t: Test, answer: Answer = sayOk): Promise<Backend> {
  const seen: ReceivedRequest[] = []
  const url = await startServer(t, async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const record: ReceivedRequest = {
      method: request.method ?? '',
      url: request.url ?? '',
      rawHeaders: request.rawHeaders,
      headers: request.headers,
      trailers: request.trailers,
      body: Buffer.concat(chunks).toString('latin1'),
    }
    seen.push(record)
    answer(request, response, record)
  })
  const last = () => {
    const record = seen.at(-1)
    if (!record) throw new Error('the backend has seen no request')
    return record
  }
  return { url, seen, last }
}

/** A real HTTP server with a listener of its own. @returns its URL */
export async function startServer(t: Test, listener: RequestListener): Promise<string> {
  const server = createServer({ keepAliveTimeout: 60_000 }, listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${portOf(server)}`
}

/** A server that gets bare sockets, to answer with just the bytes it wants. */
export async function startRawBackend(t: Test, onSocket: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createNetServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    onSocket(socket)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return `http://127.0.0.1:${portOf(server)}`
}

/** A backend that answers each request head with the same bytes. */
export function startCannedBackend(t: Test, answer: string): Promise<string> {
  return startRawBackend(t, (socket) => {
    let received = ''
    socket.on('data', (data) => {
      received += data.toString('latin1')
      for (let end = received.indexOf('\r\n\r\n'); end !== -1; end = received.indexOf('\r\n\r\n')) {
        received = received.slice(end + 4)
        socket.write(Buffer.from(answer, 'latin1'))
      }
    })
  })
}

function sayOk(_request: IncomingMessage, response: ServerResponse): void {
  response.end('ok')
}
