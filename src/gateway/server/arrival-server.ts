import { hash } from 'node:crypto'
import type { Server, Socket } from 'node:net'
import type { TlsOptions } from 'node:tls'
import type { ClientExchange, OpenConnection, UnreadableHead } from '#http/client-exchange.ts'
import type { NameTable } from '#http/message/name-table.ts'
import type { RequestHead, Unreadable } from '#http/request-head.ts'
import { createSessionOpener, type SessionLimits } from '#http/server/h2/client-session.ts'
import { createListener } from '#http/server/listener.ts'
import { afterReads } from '#http/turn.ts'
import { DeadlineSweep } from '#platform/deadline-sweep.ts'
import type { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { type Arrival, type ArrivalReader, withoutHead } from '../arrival/arrival.ts'
import { refusePlainHttp, refuseUnreadable, toGatehouseError } from '../refusals/send-problem.ts'
import type { Observer } from './observe.ts'

/** All in PEM. */
interface ServerTls {
  readonly cert: string
  readonly key: string
  /** Authorities of certificates of clients; absent = no client is asked for one. */
  readonly clientCa?: string | undefined
}

/** Options of a listener whose requests are decided about. */
export interface ServerOptions extends SessionLimits {
  /** Whether HTTP/2 is spoken. A reload cannot change it. */
  readonly http2: boolean
  /** undefined = plain HTTP. A reload cannot change whether TLS is used. */
  readonly tls: ServerTls | undefined
}

/** How often connections and bodies are checked for a passed deadline. */
const sweepMs = 500

/** Options that all listeners of a gateway share. */
export interface SharedListenerOptions {
  /** How many servers each listener has: several accept many simultaneous connections sooner. */
  readonly acceptQueues: number
  /** 48 bytes that seal TLS sessions, so that another worker can resume them; default: random ones. */
  readonly ticketKeys?: Buffer | undefined
  /** Whether responses get `Connection: close`: called for each response. */
  isDraining(): boolean
  /** A connection could not be accepted. */
  onAcceptError(error: Error): void
  /** Called for each connection: whether to accept it. */
  mayAccept(): boolean
  /** A connection was closed immediately, because it was not accepted. */
  onDropped(): void
  /** An HTTP/2 client was cut off for misusing its connection, such as for a flood of frames. */
  onSessionError(peerAddress: string, error: Error): void
}

/** Options of a listener that handles its requests by the current config. */
export interface ListenerOptions<Traffic> extends ServerOptions, SharedListenerOptions {
  /** Read once for each request. */
  traffic(): Traffic
}

/** The part of the traffic that every listener needs. */
interface ListenerTraffic extends Pick<ArrivalReader, 'trusted'> {
  readonly observer: Observer
}

interface RequestHandler<Traffic extends ListenerTraffic, Incoming extends Arrival> {
  read(exchange: ClientExchange, head: RequestHead, traffic: Traffic): Incoming
  /** The fields whose lines are marked. Called for each head. */
  names(): NameTable
  /** Whether clients of gRPC get its statuses. absent = no: their 200 would allow a request where proxies ask */
  readonly speaksGrpc?: boolean
  /** @throws GatehouseError the request is then refused with it */
  handle(arrival: Incoming, traffic: Traffic): void
  refuse(arrival: Incoming, error: GatehouseError): void
  /** Answers an unanswered request with a problem; a started response is aborted. */
  abort(arrival: Incoming, error: GatehouseError): void
  /** From now on, responses that have not started get `Connection: close`. */
  startDrain(): void
}

export interface ArrivalServer<Incoming = Arrival> {
  /** All listen on the same port; the connections are those of the first. */
  readonly servers: readonly [Server, ...Server[]]
  /** The open connections, tunnels included. */
  readonly connections: Pick<DeadlineSweep<OpenConnection>, 'size' | typeof Symbol.iterator>
  /** Sockets whose connections are not among these yet, as their TLS handshake is not complete. */
  readonly handshakes: ReadonlySet<Socket>
  /** The number of connections that have been accepted. */
  accepted(): number
  /** The requests that have no complete response yet. */
  openArrivals(): Iterable<Incoming>
  /** Aborts the open arrivals (see RequestHandler.abort). @returns how many there were */
  abortOpen(error: GatehouseError): number
  /** @param withinMs how long it may take */
  startDrain(withinMs: number): void
  /**
   * Applies new options, except for the use of HTTP/2 and of TLS, which cannot change.
   * @throws if TLS cannot use the certificate: nothing has changed then
   */
  reconfigure(options: ServerOptions): void
}

/** The request of an exchange. Hot: stored on the exchange, not in a map (docs/performance.md). */
interface CurrentRequest<Incoming> {
  arrival: Incoming | undefined
  /** The observer that recorded its start. Not the whole Traffic, which a WebSocket would keep alive past a reload. */
  observer: Observer
}

/** undefined = there has been no request yet. */
function currentRequestOf<Incoming>({ listenerState }: ClientExchange): CurrentRequest<Incoming> | undefined {
  // The cast is sound: an exchange has one listener, and only its onRequest sets this.
  return listenerState as CurrentRequest<Incoming> | undefined
}

/** Keeps only what the end of the current request needs: a WebSocket may last for days. */
export function forgetHead(exchange: ClientExchange): void {
  const current = currentRequestOf<Arrival>(exchange)
  if (current?.arrival) current.arrival = withoutHead(current.arrival)
}

/** Later, as what was written last may only fail at the end of this turn, if the client has reset the connection. */
function callIfDelivered({ socket, session }: ClientExchange, onSent: () => void): void {
  const connection = socket ?? session?.socket
  setImmediate(() => {
    if (connection && !connection.destroyed && !connection.errored) onSent()
  })
}

/** A listener of the gateway: what arrives is read, handled and observed. */
export function createArrivalServer<Traffic extends ListenerTraffic, Incoming extends Arrival>(
  options: ListenerOptions<Traffic>,
  handler: RequestHandler<Traffic, Incoming>,
): ArrivalServer<Incoming> {
  function onRequest(exchange: ClientExchange, head: RequestHead): void {
    const traffic = options.traffic()
    const arrival = handler.read(exchange, head, traffic)
    traffic.observer.begin()
    const current = currentRequestOf<Incoming>(exchange)
    if (current === undefined) exchange.listenerState = { arrival, observer: traffic.observer }
    else {
      current.arrival = arrival
      current.observer = traffic.observer
    }
    // With a body the client may send its first part in the same read.
    if (head.body.kind !== 'none') handle(arrival, traffic)
    else
      afterReads(() => {
        // What came after it in the same read may have ended it.
        if (exchange.head === head) handle(arrival, traffic)
      })
  }

  function handle(arrival: Incoming, traffic: Traffic): void {
    try {
      handler.handle(arrival, traffic)
    } catch (error) {
      handler.refuse(arrival, toGatehouseError(error))
    }
  }

  function onUnreadable(exchange: ClientExchange, what: Unreadable, head?: UnreadableHead): void {
    const refusal = refuseUnreadable(exchange, what, handler.speaksGrpc ? head : undefined)
    options.traffic().observer.recordUnreadable(exchange.peerAddress, refusal)
  }

  function answerPlainHttp(peerAddress: string): string {
    const { answer, ...refusal } = refusePlainHttp()
    options.traffic().observer.recordUnreadable(peerAddress, refusal)
    return answer
  }

  function onEnd(exchange: ClientExchange, isComplete: boolean): void {
    const current = currentRequestOf<Incoming>(exchange)
    if (current?.arrival === undefined) return
    const { arrival, observer } = current
    current.arrival = undefined
    observer.end(arrival, isComplete)
    const { onSent } = arrival.outcome
    if (isComplete && onSent) callIfDelivered(exchange, onSent)
  }

  const connections = new DeadlineSweep<OpenConnection>(sweepMs)
  const bodies = new DeadlineSweep(sweepMs)
  const events = { connections, bodies, onRequest, onUnreadable, onEnd, isDraining: options.isDraining }
  const isTrustedProxy = (address: string) => options.traffic().trusted.has(address)
  const { names } = handler
  const sessions = options.http2
    ? createSessionOpener({ ...options, ...events, names, isTrustedProxy })
    : undefined
  const tlsOf = ({ tls }: Pick<ServerOptions, 'tls'>) => tls && tlsOptions(tls, options.ticketKeys)
  const listener = createListener({
    ...options,
    ...events,
    tls: tlsOf(options),
    names,
    openSession: sessions?.open,
    answerPlainHttp,
  })

  function* openArrivals(): Generator<Incoming> {
    for (const connection of connections)
      for (const exchange of connection.exchanges()) {
        const arrival = currentRequestOf<Incoming>(exchange)?.arrival
        if (arrival !== undefined) yield arrival
      }
  }

  function abortOpen(error: GatehouseError): number {
    const open = [...openArrivals()]
    for (const arrival of open) handler.abort(arrival, error)
    return open.length
  }

  return {
    servers: listener.servers,
    handshakes: listener.handshakes,
    accepted: listener.accepted,
    connections,
    openArrivals,
    startDrain: (withinMs) => {
      handler.startDrain()
      for (const connection of connections) connection.startDrain(withinMs)
    },
    abortOpen,
    reconfigure: (changed) => {
      listener.reconfigure({ ...changed, tls: tlsOf(changed) })
      sessions?.reconfigure(changed)
    },
  }
}

function tlsOptions({ cert, key, clientCa }: ServerTls, ticketKeys: Buffer | undefined): TlsOptions {
  return {
    cert,
    key,
    minVersion: 'TLSv1.2',
    ...(ticketKeys && { ticketKeys }),
    requestCert: clientCa !== undefined,
    // Whether a certificate is needed is decided with each request.
    rejectUnauthorized: false,
    // A TLS session remembers whether the client's certificate was trusted, so it must not outlive these authorities.
    ...(clientCa !== undefined && { ca: clientCa, sessionIdContext: hash('sha256', clientCa).slice(0, 32) }),
  }
}
