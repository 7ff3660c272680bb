import type { ExchangeEvents, RequestOptions } from './exchange.ts'
import type { UpstreamFailure } from './failure.ts'

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
  /** Whether a client may have authenticated it (see connection-auth.ts): no other client may use it. */
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
  start(head: string, options: RequestOptions, events: ExchangeEvents, now: number): void
  /** From now on somebody else gets the events of the request that is on its way, if there are to be any. */
  redirect(events: ExchangeEvents): void
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
