import { once } from 'node:events'
import { createServer as createHttp1Server, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import type { Server, Socket } from 'node:net'
import type { Test } from 'tap'
import { portOf } from '../../setup/net.ts'

export interface NtlmBackend {
  readonly url: string
  /** The other ends of its connections, in the order in which they came. */
  readonly sockets: readonly Socket[]
  /** Path and number of the connection of each request. */
  readonly seen: readonly string[]
}

export const nobody = 'nobody'

/**
 * A backend that signs in connections, as IIS does: `NTLM 1` is answered with a challenge, `NTLM 3 NAME` signs in, and
 * from then on each request on the connection is one of NAME. `Negotiate NAME` signs in at once. It reads the scheme
 * wherever it is, in any case. `/private` asks for it.
 */
export async function startNtlmBackend(
  t: Test,
  { isHttp2 = false, challenge = 'NTLM' }: { isHttp2?: boolean; challenge?: string } = {},
): Promise<NtlmBackend> {
  const sockets: Socket[] = []
  const seen: string[] = []
  const users = new Map<Socket, string>()
  const answer = (
    request: IncomingMessage | Http2ServerRequest,
    response: ServerResponse | Http2ServerResponse,
  ): void => {
    // Of HTTP/2 it is a proxy of the socket, another one each time.
    const socket = sockets.find(({ remotePort }) => remotePort === request.socket.remotePort)
    if (socket === undefined) throw new Error('a request on no connection')
    seen.push(`${request.url} ${sockets.indexOf(socket)}`)
    const credential = credentialOf(request.rawHeaders)
    if (credential.user !== undefined) users.set(socket, credential.user)
    request.resume()
    const user = users.get(socket)
    const isRefused = credential.isBegun || (request.url === '/private' && user === undefined)
    const fields = isRefused ? { 'WWW-Authenticate': credential.isBegun ? 'NTLM 2' : challenge } : {}
    // The two kinds of response have no common signature.
    ;(response as ServerResponse).writeHead(isRefused ? 401 : 200, fields)
    response.end(user ?? nobody)
  }
  const server: Server = isHttp2
    ? createServer(answer)
    : createHttp1Server({ keepAliveTimeout: 60_000 }, answer)
  server.on('connection', (socket: Socket) => void sockets.push(socket.on('error', () => {})))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return { url: `http://127.0.0.1:${portOf(server)}`, sockets, seen }
}

function credentialOf(rawHeaders: readonly string[]) {
  const values = rawHeaders.filter((_, index) => rawHeaders[index - 1]?.toLowerCase() === 'authorization')
  const text = values.join(', ')
  const user = /(?:ntlm 3|negotiate) ([a-z]+)/i.exec(text)?.[1]
  return { user, isBegun: /ntlm 1/i.test(text) }
}
