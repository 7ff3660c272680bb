import type { Socket } from 'node:net'
import type { MonotonicMs } from '#platform/time.ts'
import type { ResponseFraming } from '../client-exchange.ts'
import type { BodyFraming } from '../request-head.ts'
import type { UpstreamFailure } from './failure.ts'
import type { ResponseHead } from './response-head.ts'

/** The owner of a connection, which is told what becomes of it. */
export interface ConnectionHolder {
  /** Called once for each request, when the connection is free for the next one, or gone. */
  onFree(isReusable: boolean): void
  /** To be called when its response is long-lived. */
  onLasting(): void
}

/** Carries one request at a time to a target: an HTTP/1.1 connection, or an HTTP/2 stream. */
export interface UpstreamConnection {
  holder: ConnectionHolder
  /** Whether a client may have authenticated it (see bindsConnection): no other client may use it. */
  readonly isBound: boolean
  /** Whether it has carried a request before: a failure may mean that the target was just closing it. */
  readonly isReused: boolean
  /** Whether a failure may be `not-processed`, so that what was sent has to be kept. */
  readonly mayRefuse: boolean
  readonly isOpen: boolean
  /** The period in which it may be reused. */
  readonly reusableFrom: MonotonicMs
  readonly reusableUntil: MonotonicMs
  /** Whether all memory that was written is released. */
  readonly hasWrittenAll: boolean
  /**
   * Begins a request; its head is sent together with the part of the body that follows immediately.
   * @param head as HTTP/1.1 writes it, with the empty line at its end, in Latin-1
   */
  start(head: string, options: RequestOptions, events: UpstreamResponseEvents, now: MonotonicMs): void
  /** Passes further events of the request in progress to another receiver. */
  redirect(events: UpstreamResponseEvents): void
  /** @param chunk see RequestEvents @returns false where more should wait for onDrain */
  write(chunk: Buffer): boolean
  /** The body is complete. @param trailers field lines; in HTTP/1.1 only chunks can carry them */
  finish(trailers: string): void
  /** Stops reading and the idle timeout, as it is unknown whether a target that is not read is idle. */
  pause(): void
  resume(): void
  /** Since when it has been paused; Infinity = it is not. */
  readonly pausedAt: MonotonicMs
  /** Ends the request with this failure. */
  fail(failure: UpstreamFailure): void
  /** Cancels the request and closes its connection or stream, without further events. */
  destroy(): void
}

export interface OpenEvents {
  onConnection(connection: UpstreamConnection): void
  onFailure(failure: UpstreamFailure): void
}

/**
 * The purpose of a connection: any request, one that authenticates its connection, or one whose socket may be handed
 * over.
 */
export type ConnectionUse = 'request' | 'bound' | 'upgrade'

/** Stands in until a connection has a holder. */
export const noHolder: ConnectionHolder = { onFree: () => {}, onLasting: () => {} }

/** Opens connections to one target. */
export interface ConnectionOpener {
  /**
   * @param isNew whether to use no existing connection, as it may be about to end like the one before
   * @returns a function that cancels it, and returns true if no event has been reported and none will be
   */
  open(events: OpenEvents, use: ConnectionUse, isNew: boolean): () => boolean
  /** Opens no more connections, and closes those not in use. */
  close(): void
}

/** What is known of a request before its body arrives. */
export interface RequestOptions {
  readonly method: string
  readonly isUpgrade: boolean
  /** `counted`: the length is its Content-Length, which the caller has to match. */
  readonly body: BodyFraming
  /** Whether no request may follow on its connection, as its head says. */
  readonly isLast: boolean
  /** Whether it authenticates the connection on which it is sent (see bindsConnection). */
  readonly bindsConnection: boolean
  /** Whether its client may wait for a `100` before it sends the body. */
  readonly expectsContinue: boolean
  readonly responseTimeoutMs: number
  readonly idleTimeoutMs: number
}

/** The events of a request; none follows onEnd, onUpgrade or onFailure, except onFailure if their handler throws. */
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

/** At the beginning of a field or a list element: `Nego2` was the name of a draft of Negotiate. */
const scheme = /(?:^|[ \t,])(?:ntlm|nego)/i
const upperN = 0x4e
const lowerN = 0x6e

/**
 * Whether the value of Authorization, WWW-Authenticate or their Proxy forms names NTLM or Negotiate. These authenticate
 * a connection instead of a request (RFC 4559 6): everything that follows on it belongs to the same user. So the
 * connection to the upstream only serves the client connection that the request came from.
 */
export function bindsConnection(value: string): boolean {
  const first = value.charCodeAt(0)
  // Nearly always it is a single, long credential of another scheme.
  if (first !== upperN && first !== lowerN && !value.includes(',')) return false
  return scheme.test(value)
}
