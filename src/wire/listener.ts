import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'
import { ClientConnection } from './client-connection.ts'
import type { ConnectionOptions } from './connection-events.ts'

import { Sweep } from './sweep.ts'

export interface ListenerOptions extends ConnectionOptions<ClientConnection> {
  /** undefined = plain HTTP. */
  readonly tls: TlsOptions | undefined
  /** A connection could not be taken, such as for want of file descriptors: the next may be. */
  onAcceptError(error: Error): void
}

export interface Listener {
  readonly server: Server
  /** Those that are open, tunnels included. */
  readonly connections: ReadonlySet<ClientConnection>
}

/** How often connections are looked at that take too long. */
const sweepMs = 500
const keepAliveDelayMs = 30_000

/** An HTTP/1.1 server: it takes connections, and hands their requests on. */
export function createListener(options: ListenerOptions): Listener {
  const connections = new Set<ClientConnection>()
  const sweep = new Sweep(sweepMs)
  // A client that has closed its side may still wait for its answer.
  const socketOptions = {
    allowHalfOpen: true,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: keepAliveDelayMs,
  }

  function accept(socket: Socket): void {
    const connection = new ClientConnection(socket, options)
    connections.add(connection)
    sweep.add(connection)
    socket.once('close', () => {
      connections.delete(connection)
      sweep.remove(connection)
    })
  }

  const { tls } = options
  const server = tls
    ? createTlsServer({
        ...socketOptions,
        ...tls,
        ALPNProtocols: ['http/1.1'],
        handshakeTimeout: options.requestTimeoutMs,
      })
    : createServer(socketOptions)
  server.on(tls ? 'secureConnection' : 'connection', accept)
  // Whoever does not shake hands, or not in time, is of no use.
  server.on('tlsClientError', (_error, socket: Socket) => socket.destroy())
  server.on('error', (error) => {
    // Before it listens the error is that of whoever starts it.
    if (server.listening) options.onAcceptError(error)
  })
  return { server, connections }
}
