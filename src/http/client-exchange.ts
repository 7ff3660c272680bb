import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { DeadlineSweep, Expiring } from '#platform/deadline-sweep.ts'
import type { ClientCertificate } from './client-certificate.ts'
import type { BodyTooSlow, MalformedMessage, RequestHead, Unreadable } from './request-head.ts'

/**
 * How much of the request's body has arrived. `buffered`: a part of it is held back until `resumeBody`, which is known
 * once `onHead` has returned. A request without a body is `complete`.
 */
export type BodyState = 'complete' | 'buffered' | 'pending'

/**
 * How much of a request's body has come from its client while it waits for a connection to a target. `whole`: all, or
 * there is none; `held`: little so far; `flowing`: more than is buffered.
 */
export type BodyProgress = 'whole' | 'held' | 'flowing'

/** How the client knows where a response's body ends. */
export type ResponseFraming =
  /** There is no body, whatever the head says: HEAD, 204, 304. */
  | 'none'
  /** By its Content-Length, which the caller has to match. */
  | 'counted'
  | 'chunked'
  /** By the end of the connection: the only way in HTTP/1.0 if the length is unknown. */
  | 'until-close'

/** A client's connection, whatever the HTTP version. Its deadline is watched while it is open. */
export interface OpenConnection extends Expiring {
  readonly socket: Socket
  /** The exchanges in progress. */
  exchanges(): Iterable<ClientExchange>
  /**
   * Tells the client, as far as that is possible without a response, to send no more requests.
   * @param withinMs when the connection will be cut off
   */
  startDrain(withinMs: number): void
}

/**
 * The client's side of an exchange: where its request came from, and where its response goes. An HTTP/1.1 connection
 * has one after another, and implements all of them; in HTTP/2 each stream is one.
 */
export interface ClientExchange {
  /** The IP address of the other end, as text. */
  readonly peerAddress: string
  readonly protocol: 'http' | 'https'
  /** Read from the connection when it is asked for (clientCertificateOf). */
  readonly clientCertificate: ClientCertificate | undefined
  /** The current request. Asynchronous code compares it to see whether its own request is over. */
  readonly head: RequestHead | undefined
  /** State that only its listener uses. Not in a map, which would change with every request. */
  listenerState: object | undefined
  /** If not, it is HTTP/1.1 or HTTP/1.0, as its head says. */
  readonly isHttp2: boolean
  readonly bodyState: BodyState
  /** Whether a part of the response was sent; until then it can be replaced by another response. */
  readonly isHeadSent: boolean
  /** How the body of the response ends, once its head has been written. */
  readonly framing: ResponseFraming
  /** Whether everything written has been passed to the system, so that none of its memory is in use. */
  readonly hasWrittenAll: boolean
  /** The connection that it shares with other exchanges of its client; undefined = it has its own. */
  readonly session: Pick<OpenConnection, 'socket'> | undefined
  /** The socket of its own connection, which code without this interface may write to; undefined = it shares one. */
  readonly socket: Socket | undefined
  /** Sets the handler of the request; the body is held back until `resumeBody`. undefined = no handler. */
  attach(events: RequestEvents | undefined): void
  /** Ends the attached handler's work on the request, as if the client had disconnected. */
  detach(): void
  /**
   * Takes the body instead of having it delivered, if it has a length, of at most `smallChunkBytesMax`, and all of it
   * came with the head. To be called within `onRequest`, and valid until that returns.
   * @returns undefined if it cannot be taken
   */
  takeBody(): Buffer | undefined
  /** @param mayPause whether the body may come as slowly as its client likes; with HTTP/1.1 it never may */
  resumeBody(mayPause?: boolean): void
  pauseBody(): void
  /** Whether another request may follow on the connection after this response, as far as known now. */
  canPersist(): boolean
  /** Closes the connection after this response, if it serves one exchange at a time. */
  closeAfterAnswer(): void
  /**
   * Sends a 1xx.
   * @param lines field lines
   * @returns false if more should wait for onClientDrain
   */
  writeInformation(status: number, reason: string, lines: string): boolean
  /**
   * Begins the response. A 2xx to an extended CONNECT aborts it, as its client would take the tunnel for open.
   * @param lines field lines, without those about the connection
   */
  respond(status: number, reason: string, lines: string, framing: ResponseFraming): void
  /** @returns false where more should wait for onClientDrain */
  write(chunk: Buffer): boolean
  /** Sends what is buffered. @returns false where more should wait for onClientDrain */
  flush(): boolean
  /**
   * Completes the response.
   * @param last the rest of a counted body, as text
   * @param trailers field lines; in HTTP/1.1 only chunks can carry them
   */
  end(last?: string, trailers?: string): void
  /** Aborts the response, so that no client takes it for complete. */
  abort(): void
  /** Starts the timeout for the client to read what was written. @returns false, which tells writers to stop for now */
  startSendTimeout(): false
  /**
   * Completes a response that other code has written to `socket`.
   * @param persists whether another request may follow on the connection (RFC 9112 9.3)
   */
  endOnSocket(persists: boolean): void
  /**
   * Accepts the upgrade of the request; the exchange ends when the stream closes.
   * @param lines field lines, without those of the connection
   */
  acceptUpgrade(reason: string, lines: string): UpgradedStream
}

/** The head of a request that cannot be handled. */
export type UnreadableHead = Pick<RequestHead, 'method' | 'rawHeaders'>

/** The settings of exchanges, read at each use, and the callbacks for what clients send. */
export interface ExchangeOptions {
  /** Minimum rate of a request's body while the gateway waits for it, in bytes a second over 10 s; from 1. */
  readonly bodyRateMin: number
  /** Watches the deadlines of all connections. */
  readonly connections: Pick<DeadlineSweep, 'sweptAt'>
  /** Watches the deadlines of bodies. */
  readonly bodies: Pick<DeadlineSweep, 'add' | 'remove'>
  /** Whether connections end with what they carry: called for each request or response. */
  isDraining(): boolean
  onRequest(exchange: ClientExchange, head: RequestHead): void
  /**
   * The client gets a response nevertheless, with which an HTTP/1.1 connection ends.
   * @param head what is known of it, unchecked, where that is anything: in HTTP/2
   */
  onUnreadable(exchange: ClientExchange, what: Unreadable, head?: UnreadableHead): void
  /** The exchange of a request has ended. @param isComplete whether the complete response was sent */
  onEnd(exchange: ClientExchange, isComplete: boolean): void
}

/** What remains of an exchange after an upgrade: its bytes belong to the caller. */
export interface UpgradedStream {
  readonly stream: TimedDuplex
  /** What the client has already sent; undefined = nothing. */
  readonly firstBytes: Buffer | undefined
}

/** A stream that reports when nothing has passed for a while, as sockets do. */
interface TimedDuplex extends Duplex {
  setTimeout(ms: number, onTimeout?: () => void): unknown
}

/** The handler of a request: it gets the body, and learns what happens to the client. */
export interface RequestEvents {
  /** Whether the response is written directly to the socket, so that the connection must not write. */
  readonly writesToSocket?: boolean
  /** @param chunk valid until this returns; make a copy to keep it (see `ownedCopy`) */
  onBodyData(chunk: Buffer): void
  /** Whether every chunk passed to `onBodyData` has been released. */
  isChunkReleased(): boolean
  /** @param trailers name, value, name, value */
  onBodyEnd(trailers: readonly string[]): void
  /** The rest of the body cannot be read; the connection ends with the response. */
  onBodyError(error: MalformedMessage | BodyTooSlow): void
  /** More of the response may be written. */
  onClientDrain(): void
  /** The client disconnected before the response was completely sent. */
  onAbort(): void
}

/**
 * Whether a request in the form of an upgrade is an extended CONNECT of HTTP/2 (RFC 8441). After CONNECT any 2xx means
 * that the tunnel is open (RFC 9110 9.3.6), so it gets none unless a backend has accepted its WebSocket.
 */
export function isExtendedConnect(
  { isHttp2 }: Pick<ClientExchange, 'isHttp2'>,
  { upgrade }: Pick<RequestHead, 'upgrade'>,
): boolean {
  return upgrade !== undefined && isHttp2
}
