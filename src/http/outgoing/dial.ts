import { connect as connectPlain, type OnReadOpts, type Socket } from 'node:net'
import { connect as connectTls, type SecureContext } from 'node:tls'
import { startDeadline } from '#platform/deadline.ts'
import { PooledSocketReader } from '../socket-reader.ts'
import { UpstreamFailure } from './failure.ts'
import { Http1Connection } from './http1-connection.ts'
import type { TargetAddress } from './target-address.ts'
import type { ConnectionOpener } from './upstream-connection.ts'

export interface DialOptions {
  readonly address: Pick<TargetAddress, 'isTls' | 'endpoint' | 'serverName'>
  readonly connectTimeoutMs: number
  /** For https targets. */
  readonly tls: TargetTls
  readonly protocol: UpstreamProtocol
}

/** The protocol of a target: negotiated by ALPN over TLS, otherwise by prior knowledge. */
export type UpstreamProtocol = 'http1' | 'http2'

interface TargetTls {
  readonly verify: boolean
  readonly context: SecureContext | undefined
  /** The last TLS session with this target, which the next connection resumes to save most of the handshake. */
  tlsSession: Buffer | undefined
}

interface DialEvents {
  onSocket(socket: Socket): void
  onFailure(failure: UpstreamFailure): void
}

const keepAliveDelayMs = 30_000

/**
 * Connects to a target.
 * @param onread the memory that a plain socket reads into
 * @returns a function that cancels it, and returns true if no event has been reported and none will be
 */
export function dial(
  { address, connectTimeoutMs, tls, protocol }: DialOptions,
  events: DialEvents,
  onread?: OnReadOpts,
): () => boolean {
  const socket = address.isTls
    ? openTls(address, tls, protocol)
    : connectPlain({ ...address.endpoint, ...(onread && { onread }) })
  const readyEvent = address.isTls ? 'secureConnect' : 'connect'
  let isSettled = false
  const deadline = startDeadline(connectTimeoutMs, onTimeout)
  socket.setNoDelay(true).setKeepAlive(true, keepAliveDelayMs)
  socket.once(readyEvent, onReady).on('error', onError)

  function settle(): boolean {
    if (isSettled) return false
    isSettled = true
    deadline.clear()
    return true
  }

  function onReady(): void {
    if (!settle()) return
    socket.off('error', onError)
    events.onSocket(socket)
  }

  function onError(cause: Error): void {
    const reason = isLocalResourceError(cause) ? 'no-resources' : 'connect-failed'
    if (settle()) events.onFailure(new UpstreamFailure(reason, describe(cause, address.endpoint), cause))
  }

  function onTimeout(): void {
    if (!settle()) return
    socket.destroy()
    events.onFailure(new UpstreamFailure('connect-timeout', `no connection within ${connectTimeoutMs} ms`))
  }

  return () => {
    if (!settle()) return false
    socket.destroy()
    return true
  }
}

function openTls(
  { endpoint, serverName }: DialOptions['address'],
  tls: TargetTls,
  protocol: UpstreamProtocol,
): Socket {
  const { verify, context, tlsSession } = tls
  const socket = connectTls({
    ...endpoint,
    ...(serverName !== undefined && { servername: serverName }),
    ...(context && { secureContext: context }),
    rejectUnauthorized: verify,
    ALPNProtocols: [protocol === 'http2' ? 'h2' : 'http/1.1'],
    ...(tlsSession && { session: tlsSession }),
  })
  // Only the TLS session of a verified server is kept, as the server's name is not checked again when it is resumed.
  socket.on('session', (next) => {
    if (socket.authorized || !verify) tls.tlsSession = next
  })
  socket.once('error', () => {
    tls.tlsSession = undefined
  })
  return socket
}

/**
 * This machine has run out of descriptors, ports for connections to one address, or memory; EAGAIN: the queue of a Unix
 * socket is full.
 */
const localResourceCodes = new Set([
  'EMFILE',
  'ENFILE',
  'EADDRNOTAVAIL',
  'ENOMEM',
  'ENOBUFS',
  'EAI_MEMORY',
  'EAGAIN',
])

/** Whether the failure is local, so that it must not count against the target. */
function isLocalResourceError(error: Error): boolean {
  // Where a name has several addresses, it is enough that one of them has refused the connection.
  if (error instanceof AggregateError)
    return error.errors.length > 0 && error.errors.every(isLocalResourceError)
  return 'code' in error && localResourceCodes.has(String(error.code))
}

/** OpenSSL's codes if the response to a handshake is not TLS but, for example, HTTP. */
const plainAnswer = /^ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST)$/
/** OpenSSL's codes for a certificate of an unknown authority. */
const unknownAuthority = /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+)$/

/** What the codes of a connection to a Unix socket mean. */
const socketHints: Readonly<Record<string, string>> = {
  ENOENT: 'there is no socket at this path: is the backend running, and is the path right?',
  ECONNREFUSED: 'nothing listens on this socket: is the backend running?',
  EACCES:
    'the gateway may not connect: give its user write permission to the socket, and access to its folder',
  ENOTSOCK: 'this is not a socket',
}

/** Tells the operator what to do, as Node's own message is for programmers. */
function describe(error: Error, endpoint: TargetAddress['endpoint']): string {
  const code = 'code' in error ? String(error.code) : ''
  const hint = 'path' in endpoint ? socketHints[code] : undefined
  if (hint !== undefined) return `${error.message}: ${hint}`
  if (plainAnswer.test(code)) return 'the target does not speak TLS: use http:// instead of https://'
  if (unknownAuthority.test(code)) {
    return `${error.message.split(';', 1)[0]}; set tls.ca of the upstream to its CA certificate`
  }
  // If several addresses have failed, Node's error has no message of its own.
  return error instanceof AggregateError ? error.errors.map(String).join('; ') : error.message
}

/** Its `open` makes a new HTTP/1.1 connection each time. */
export function openHttp1Connections(options: DialOptions): ConnectionOpener {
  return {
    open: (events, use) => {
      // A socket that reads into shared memory cannot be handed over.
      const isPooled = !options.address.isTls && use !== 'upgrade'
      const reader = isPooled ? new PooledSocketReader() : undefined
      const dialEvents = {
        onSocket: (socket: Socket) => events.onConnection(new Http1Connection(socket, reader)),
        onFailure: (failure: UpstreamFailure) => events.onFailure(failure),
      }
      return dial(options, dialEvents, reader?.onread)
    },
    close: () => {},
  }
}
