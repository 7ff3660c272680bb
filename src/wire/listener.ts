import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'
import { ClientConnection } from './client-connection.ts'
import type { ConnectionLimits, ConnectionOptions } from './connection-events.ts'
import { RecentFields } from './recent-fields.ts'
import { keepAliveOf } from './response-writer.ts'
import { Sweep } from './sweep.ts'

/** What may change while it listens. */
export interface ListenerTerms extends ConnectionLimits {
  /** undefined = plain HTTP; that stays as it was. */
  readonly tls: TlsOptions | undefined
}

export interface ListenerOptions
  extends Omit<ConnectionOptions<ClientConnection>, 'keepAlive' | 'recentFields' | 'sweep'>,
    ListenerTerms {
  /** A connection could not be taken, such as for want of file descriptors: the next may be. */
  onAcceptError(error: Error): void
}

export interface Listener {
  readonly server: Server
  /** Those that are open, tunnels included. */
  readonly connections: ReadonlySet<ClientConnection>
  /**
   * Takes other terms: limits for every connection, a certificate for those to come.
   * @throws where TLS cannot use the certificate: all stays as it was then
   */
  adapt(terms: ListenerTerms): void
}

/** How often connections are looked at that take too long. */
const sweepMs = 500
const keepAliveDelayMs = 30_000

/** An HTTP/1.1 server: it takes connections, and hands their requests on. */
export function createListener(options: ListenerOptions): Listener {
  const sweep = new Sweep(sweepMs)
  const keepAlive = keepAliveOf(options.keepAliveTimeoutMs)
  // A copy, which connections look into each time, so that other terms reach them all.
  const inForce = { ...options, keepAlive, recentFields: new RecentFields(), sweep }
  const connections = new Set<ClientConnection>()
  // A client that has closed its side may still wait for its answer.
  const socketOptions = {
    // Of TLS only once hands are shaken: who leaves before that is of no use.
    allowHalfOpen: options.tls === undefined,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: keepAliveDelayMs,
  }

  function accept(socket: Socket): void {
    // Reset already: what it had sent could still be read, and would come from nobody.
    if (socket.remoteAddress === undefined) {
      socket.destroy()
      return
    }
    socket.allowHalfOpen = true
    const connection = new ClientConnection(socket, inForce)
    connections.add(connection)
    sweep.add(connection)
    socket.once('close', () => {
      connections.delete(connection)
      sweep.remove(connection)
    })
  }

  const { tls, requestTimeoutMs } = options
  const handshake = { ALPNProtocols: ['http/1.1', 'http/1.0'], handshakeTimeout: requestTimeoutMs }
  const tlsServer = tls && createTlsServer({ ...socketOptions, ...tls, ...handshake })
  const server = tlsServer ?? createServer(socketOptions)
  server.on(tlsServer ? 'secureConnection' : 'connection', accept)
  // Whoever does not shake hands, or not in time, is of no use.
  tlsServer?.on('tlsClientError', (_error, socket) => socket.destroy())
  server.on('error', (error) => {
    // Before it listens the error is that of whoever starts it.
    if (server.listening) options.onAcceptError(error)
  })

  function adapt(terms: ListenerTerms): void {
    // First: where TLS cannot use its certificate, nothing may have changed.
    if (terms.tls) tlsServer?.setSecureContext(terms.tls)
    Object.assign(inForce, terms, { keepAlive: keepAliveOf(terms.keepAliveTimeoutMs) })
  }

  return { server, connections, adapt }
}
