import { createServer, type Server, type ServerOpts, Socket } from 'node:net'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'
import { unmappedAddress } from '#platform/addresses.ts'
import type { DeadlineSweep } from '#platform/deadline-sweep.ts'
import type { OpenConnection } from '../client-exchange.ts'
import { acceptHandles, type SocketHandle } from '../socket-handle.ts'
import { ClientConnection } from './client-connection.ts'
import { ClientSocket } from './client-socket.ts'
import type { SessionOpener } from './h2/client-session.ts'
import { keepAliveOf } from './response-writer.ts'
import type { ConnectionLimits, ConnectionOptions, HandedOver } from './writable-connection.ts'

/** The options that may change while it listens. */
export interface ReloadableListenerOptions extends ConnectionLimits {
  /** undefined = plain HTTP. Whether there is TLS cannot change. */
  readonly tls: TlsOptions | undefined
}

interface ListenerOptions
  extends Omit<ConnectionOptions, 'keepAlive' | 'onPreface'>,
    ReloadableListenerOptions {
  /** Where it keeps the open connections, tunnels included. */
  readonly connections: DeadlineSweep<OpenConnection>
  /** How many servers there are. */
  readonly acceptQueues: number
  /**
   * Takes over a connection that the client has opened with HTTP/2. undefined = it is not enabled here.
   */
  readonly openSession: SessionOpener['open'] | undefined
  /** A connection could not be accepted, for example for lack of file descriptors; the next one may be. */
  onAcceptError(error: Error): void
  /** Called for each connection: whether it may be accepted. */
  mayAccept(): boolean
  /** A connection was closed at once, as it was not accepted. */
  onDropped(): void
  /** A client sends plain HTTP to a TLS port. @param peerAddress its IP address @returns the response, in ASCII */
  answerPlainHttp(peerAddress: string): string
}

interface Listener {
  /** All are to listen on the same port. */
  readonly servers: readonly [Server, ...Server[]]
  /** What `connections` does not have yet: the sockets of those whose TLS handshake is not complete. */
  readonly handshakes: ReadonlySet<Socket>
  /** The number of connections that have been accepted; with TLS, before their handshake. */
  accepted(): number
  /**
   * Applies changed options: the limits to every connection, the certificate to new ones.
   * @throws if TLS cannot use the certificate: then nothing has changed
   */
  reconfigure(options: ReloadableListenerOptions): void
}

/** How long a client is silent before the system probes whether it is still there. */
const probeDelayMs = 30_000

/** A server for HTTP/1.1 that accepts connections, passes on their requests, and hands over HTTP/2 connections. */
export function createListener(options: ListenerOptions): Listener {
  const keepAlive = keepAliveOf(options.keepAliveTimeoutMs)
  const { connections, openSession } = options
  // With TLS, ALPN has decided about the version (RFC 9113 3.2, 3.3).
  const onPreface = openSession && options.tls === undefined ? handOver : undefined
  // A copy that connections read at each use, so that changes reach all of them.
  const currentOptions = { ...options, keepAlive, onPreface }
  // A client that has half-closed its connection may still wait for its response.
  const socketOptions = {
    // With TLS this is set in `accept`, after the handshake: a client that disconnects before it waits for nothing.
    allowHalfOpen: options.tls === undefined,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: probeDelayMs,
  }

  const handshakes = new Set<Socket>()
  let accepted = 0

  function acceptHandle(handle: SocketHandle): void {
    if (!options.mayAccept()) {
      handle.close()
      options.onDropped()
      return
    }
    accepted++
    open(new ClientSocket(handle))
  }

  function beginHandshake(socket: Socket): void {
    handshakes.add(socket)
    socket.once('close', () => handshakes.delete(socket))
  }

  function accept(socket: Socket): void {
    const below = socketBelow(socket)
    if (below) handshakes.delete(below)
    if (openSession && 'alpnProtocol' in socket && socket.alpnProtocol === 'h2') {
      if (socket.remoteAddress === undefined) socket.destroy()
      else keepSession(openSession(socket, unmappedAddress(socket.remoteAddress), undefined))
      return
    }
    socket.allowHalfOpen = true
    open(new ClientSocket(socket))
  }

  function open(socket: ClientSocket): void {
    // The client has reset the connection: its data could still be read, but its address is unknown.
    if (socket.remoteAddress === undefined) socket.destroy()
    else connections.add(new ClientConnection(socket, currentOptions))
  }

  function keepSession(session: OpenConnection): void {
    connections.add(session)
    session.socket.once('close', () => connections.remove(session))
  }

  /** The client speaks HTTP/2 without having negotiated it (RFC 9113 3.3). @param bytes what has been read */
  function handOver(connection: HandedOver, bytes: Buffer): void {
    const { socket, peerAddress } = connection
    connections.remove(connection)
    // A half-closed connection is useless in HTTP/2: a client that ends its side waits for nothing.
    socket.allowHalfOpen = false
    if (openSession) keepSession(openSession(socket, peerAddress, bytes))
  }

  const { tls, requestTimeoutMs } = options
  const protocols = [...(openSession ? ['h2'] : []), 'http/1.1', 'http/1.0']
  const handshake = { ALPNProtocols: protocols, handshakeTimeout: requestTimeoutMs }
  const tlsServer = tls && createTlsServer({ ...socketOptions, ...tls, ...handshake })
  const server = tlsServer ?? createServer(socketOptions)
  server.on(tlsServer ? 'secureConnection' : 'connection', accept)
  server.on('connection', () => void accepted++)
  tlsServer?.on('connection', beginHandshake)
  // The client failed the handshake, or took too long.
  tlsServer?.on('tlsClientError', (error, socket) => {
    if (isPlainHttp(error))
      sendUnencrypted(socket, options.answerPlainHttp(unmappedAddress(socket.remoteAddress ?? '')))
    socket.destroy()
  })
  const servers: Listener['servers'] = [
    server,
    ...createFurtherQueues(server, socketOptions, options.acceptQueues - 1),
  ]
  for (const each of servers) {
    limitAccepting(each)
    if (!tlsServer) each.on('listening', () => acceptHandles(each, probeDelayMs, acceptHandle))
  }

  function limitAccepting(each: Server): void {
    // Also in a worker (since Node 23.1; the type does not have it yet).
    Object.assign(each, { dropMaxConnection: true })
    Object.defineProperty(each, 'maxConnections', {
      // Node reads this for each connection.
      get: () => (options.mayAccept() ? Number.POSITIVE_INFINITY : 0),
    })
    each.on('drop', () => options.onDropped())
    each.on('error', (error) => {
      // An error before listening is handled by the code that starts it.
      if (each.listening) options.onAcceptError(error)
    })
  }

  function reconfigure(changed: ReloadableListenerOptions): void {
    // First, so that nothing has changed if TLS cannot use its certificate.
    if (changed.tls && tlsServer) {
      tlsServer.setSecureContext(changed.tls)
      // The server reads it for each connection; its type does not know it.
      Object.assign(tlsServer, { requestCert: changed.tls.requestCert === true })
    }
    Object.assign(currentOptions, changed, { keepAlive: keepAliveOf(changed.keepAliveTimeoutMs) })
  }

  return { servers, handshakes, accepted: () => accepted, reconfigure }
}

/** OpenSSL's codes if the first bytes are not TLS; the first two occur for a few methods only. */
const notTlsCodes = new Set([
  'ERR_SSL_HTTP_REQUEST',
  'ERR_SSL_HTTPS_PROXY_REQUEST',
  'ERR_SSL_WRONG_VERSION_NUMBER',
])

function isPlainHttp(error: Error): boolean {
  return 'code' in error && notTlsCodes.has(String(error.code))
}

/** Writes to the socket below TLS, which has failed. */
function sendUnencrypted(socket: object, text: string): void {
  const below = socketBelow(socket)
  if (below?.writable) below.end(text, 'latin1')
}

/** The socket below TLS, as its connection was accepted; undefined = there is no TLS. */
function socketBelow(socket: object): Socket | undefined {
  // The cast is sound: it is checked before it is used.
  const { _parent: below } = socket as { readonly _parent?: unknown }
  return below instanceof Socket ? below : undefined
}

/**
 * How many sockets listen on a port. libuv accepts one connection from each in a turn of the event loop, and a turn
 * takes milliseconds under load: with one socket, the last of 600 clients that connected at once waited two seconds.
 */
export const acceptQueuesMax = 16

/**
 * Servers that pass the connections of further sockets on the same port to a first server.
 * @param options of sockets, as for the first
 */
export function createFurtherQueues(first: Server, options: ServerOpts, count: number): readonly Server[] {
  return Array.from({ length: count }, () =>
    createServer(options, (socket) => void first.emit('connection', socket)),
  )
}
