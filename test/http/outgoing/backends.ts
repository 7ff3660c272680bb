import { once } from 'node:events'
import { createServer } from 'node:https'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Test } from 'tap'
import { startRawBackend } from '../../setup/backend.ts'
import type { Certificate } from '../../setup/certificates.ts'
import { portOf } from '../../setup/net.ts'

/** A request head as a backend of bare sockets got it. */
export interface SeenHead {
  readonly method: string
  readonly path: string
  readonly text: string
  readonly socket: Socket
  /** Which connection it came on, and which request on it, counted from 0. */
  readonly connection: number
  readonly turn: number
}

export interface HeadBackend {
  readonly url: string
  readonly sockets: readonly Socket[]
  readonly heads: readonly SeenHead[]
}

/** A backend of bare sockets that reports every request head; bodies it leaves to the test. */
export async function startHeadBackend(t: Test, onRequest: (head: SeenHead) => void): Promise<HeadBackend> {
  const sockets: Socket[] = []
  const heads: SeenHead[] = []
  const url = await startRawBackend(t, (socket) => {
    const connection = sockets.push(socket) - 1
    let received = ''
    let turn = 0
    socket.on('data', (data) => {
      received += data.toString('latin1')
      for (let end = received.indexOf('\r\n\r\n'); end !== -1; end = received.indexOf('\r\n\r\n')) {
        const text = received.slice(0, end)
        received = received.slice(end + 4)
        const [method = '', path = ''] = text.split(' ')
        const head = { method, path, text, socket, connection, turn }
        turn++
        heads.push(head)
        onRequest(head)
      }
    })
  })
  return { url, sockets, heads }
}

/** A counted answer of some text. */
export function answerOf(body: string, lines = ''): string {
  return `HTTP/1.1 200 OK\r\n${lines}Content-Length: ${body.length}\r\n\r\n${body}`
}

/** Answers with the protocol and the server name that the client asked for. */
export async function startTlsBackend(t: Test, certificate: Certificate) {
  let connections = 0
  const server = createServer(certificate, ({ socket }, response) => {
    // The cast is sound: a server for TLS has no other sockets, and Node documents the member.
    const { alpnProtocol, servername } = socket as TLSSocket & { readonly servername: string | false }
    response.end(`${alpnProtocol} ${servername}`)
  }).listen(0, '127.0.0.1')
  server.on('secureConnection', () => connections++)
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return { port: portOf(server), countConnections: () => connections }
}
