import type { Socket } from 'node:net'
import type { ResponseFraming } from '../exchange/client-exchange.ts'
import type { UpstreamFailure } from './failure.ts'
import type { ResponseHead } from './response-head.ts'

/** Who has opened a connection, and learns what becomes of it. */
export interface ConnectionHolder {
  /** Called once for each request, when it can take the next one, or is gone. */
  onFree(isReusable: boolean): void
  /** To be called when its response is one that lasts. */
  onLasting(): void
}

/** What carries one request at a time to a target: a connection of HTTP/1.1, or a stream of HTTP/2. */
export interface UpstreamConnection {
  holder: ConnectionHolder
  /** Whether a client may have authenticated it (see bindsConnection): no other client may use it. */
  readonly isBound: boolean
  /** Whether its failure may be that of a connection which the target closed at the same moment. */
  readonly isReused: boolean
  /** Whether its failure may be `not-processed`: what was sent is then to be kept. */
  readonly mayRefuse: boolean
  readonly isOpen: boolean
  /** From when, and until when, it may be reused, on the clock of performance.now(). */
  readonly reusableFrom: number
  readonly reusableUntil: number
  /** Whether all memory that was written is released. */
  readonly hasWrittenAll: boolean
  /**
   * Begins a request; its head is sent together with the part of the body that follows at once.
   * @param head as HTTP/1.1 writes it, with the empty line at its end, in Latin-1
   * @param now on the clock of performance.now()
   */
  start(head: string, options: RequestOptions, events: UpstreamResponseEvents, now: number): void
  /** From now on somebody else gets the events of the request that is on its way, if there are to be any. */
  redirect(events: UpstreamResponseEvents): void
  /** @param chunk see RequestEvents @returns false where more should wait for onDrain */
  write(chunk: Buffer): boolean
  /** The body is complete. @param trailers field lines, each ended by CR LF; only chunks can carry them */
  finish(trailers: string): void
  /** Stops reading and the idle timeout: a target that is not read cannot be known to be idle. */
  pause(): void
  resume(): void
  /** Since when it has been paused, on the clock of performance.now(); Infinity = it is not. */
  readonly pausedAt: number
  /** Ends the request with this failure. */
  fail(failure: UpstreamFailure): void
  /** Cancels the request and closes what carries it; no more events follow. */
  destroy(): void
}

export interface OpenEvents {
  onConnection(connection: UpstreamConnection): void
  onFailure(failure: UpstreamFailure): void
}

/**
 * What a connection is for: any request, one that authenticates its connection, or one whose socket may be handed over.
 */
export type ConnectionUse = 'request' | 'bound' | 'upgrade'

/** The holder of a connection that none has yet. */
export const noHolder: ConnectionHolder = { onFree: () => {}, onLasting: () => {} }

/** Opens connections to one target. */
export interface ConnectionOpener {
  /**
   * @param isNew whether none is taken that is open already: it may be about to end as the one before did
   * @returns cancels: true if no event was reported yet, and none will be
   */
  open(events: OpenEvents, use: ConnectionUse, isNew: boolean): () => boolean
  /** Opens no more, and closes what is not in use. */
  close(): void
}

/** What is known of a request before its body. */
export interface RequestOptions {
  readonly method: string
  readonly isUpgrade: boolean
  /** `counted` = as long as its Content-Length says, which the caller has to match. */
  readonly body: 'none' | 'counted' | 'chunked'
  /** Whether no request may follow it on its connection, as its head says. */
  readonly isLast: boolean
  /** Whether it authenticates the connection that it is sent on (see bindsConnection). */
  readonly bindsConnection: boolean
  /** Whether its client may wait for a `100` before it sends the body. */
  readonly expectsContinue: boolean
  readonly responseTimeoutMs: number
  readonly idleTimeoutMs: number
}

/** What happens to a request; after onEnd, onUpgrade or onFailure there are no more events. */
export interface UpstreamResponseEvents {
  onInformation(head: ResponseHead): void
  onHead(head: ResponseHead, framing: ResponseFraming): void
  /** @param chunk valid until the call returns, unless it is longer than `smallChunkBytesMax` */
  onData(chunk: Buffer): void
  /** @param last the rest of a counted body, in Latin-1; absent = all of it was data */
  onEnd(trailers: readonly string[], last?: string): void
  onUpgrade(head: ResponseHead, socket: Socket, rest: Buffer): void
  onFailure(failure: UpstreamFailure): void
  /** All events of one read have been reported. @returns whether its memory is released */
  onRead(): boolean
  /** More of the body may be written. */
  onDrain(): void
}

/** At the beginning of a field, or of an element of a list: `Nego2` was the name of a draft of Negotiate. */
const scheme = /(?:^|[ \t,])(?:ntlm|nego)/i
const upperN = 0x4e
const lowerN = 0x6e

/**
 * Whether the value of Authorization, WWW-Authenticate or of their Proxy forms names NTLM or Negotiate. These
 * authenticate a connection instead of a request (RFC 4559 6): whatever comes on it later has the same user. So the
 * connection to the upstream serves nobody but the client connection from which it came.
 */
export function bindsConnection(value: string): boolean {
  const first = value.charCodeAt(0)
  // Nearly always it is one credential of another scheme, and a long one.
  if (first !== upperN && first !== lowerN && !value.includes(',')) return false
  return scheme.test(value)
}
