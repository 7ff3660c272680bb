import type { ExchangeEvents, RequestOptions } from './exchange.ts'
import type { UpstreamFailure } from './failure.ts'

/** What carries one request at a time to a target: a connection of HTTP/1.1, or a stream of HTTP/2. */
export interface UpstreamConnection {
  /** Called once when it can take the next request, or is gone. */
  onFree: (isReusable: boolean) => void
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
  /** @param chunk see RequestEvents @returns false where more should wait for onDrain */
  write(chunk: Buffer): boolean
  /** The body is complete. @param trailers field lines, each ended by CR LF; only chunks can carry them */
  finish(trailers: string): void
  /** Stops reading and the idle timeout: a target that is not read cannot be known to be idle. */
  pause(): void
  resume(): void
  /** Cancels the request and closes what carries it; no more events follow. */
  destroy(): void
}

export interface OpenEvents {
  onConnection(connection: UpstreamConnection): void
  onFailure(failure: UpstreamFailure): void
}

/** Opens connections to one target. */
export interface ConnectionOpener {
  /**
   * @param mayUpgrade whether the socket may be handed over
   * @returns cancels: true if no event was reported yet, and none will be
   */
  open(events: OpenEvents, mayUpgrade: boolean): () => boolean
  /** Opens no more, and closes what is not in use. */
  close(): void
}
