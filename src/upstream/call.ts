import type { Socket } from 'node:net'
import { hasWrittenAll } from '../wire/let-go.ts'
import type { ResponseFraming } from '../wire/response-writer.ts'
import type { Connection } from './connection.ts'
import type { ExchangeEvents, RequestTerms } from './exchange.ts'
import type { UpstreamFailure } from './failure.ts'
import type { Waiter } from './pool.ts'
import type { ResponseHead } from './response-head.ts'
import type { Target } from './target.ts'

export interface UpstreamRequest extends Omit<RequestTerms, 'idleTimeoutMs'> {
  /** The whole head for a target, with the empty line at its end. */
  head(target: Target): string
}

export interface CallEvents extends ExchangeEvents {
  /** The head is on its way to a target: now the body may follow. */
  onSent(target: Target): void
}

interface CallOptions {
  readonly request: UpstreamRequest
  readonly events: CallEvents
  readonly targets: readonly Target[]
  readonly first: Target
  readonly retryAttempts: number
  readonly idleTimeoutMs: number
}

/** Methods that may be sent twice without asking (RFC 9110 9.2.2), as far as they are safe too. */
const repeatable = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * One request on its way to an upstream. Where it fails before anything has come back, it goes to another
 * target: when no connection was made, or when it is safe to repeat. A kept connection that the target
 * closed at the same moment is no failure of the target: a new one to it is tried first.
 */
export class Call implements ExchangeEvents, Waiter {
  readonly #options: CallOptions
  /** Others than the present one. */
  #tried: readonly Target[] = []
  #target: Target
  #connection: Connection | undefined
  #cancelAcquire: (() => void) | undefined
  #isAnswered = false
  #isFresh = false

  constructor(options: CallOptions) {
    this.#options = options
    this.#target = options.first
  }

  start(): void {
    this.#acquire()
  }

  /** @returns false where more should wait for onDrain */
  write(chunk: Buffer): boolean {
    return this.#connection?.write(chunk) ?? false
  }

  /** Whether nothing that was written is in use any more. */
  get hasWrittenAll(): boolean {
    return this.#connection !== undefined && hasWrittenAll(this.#connection.socket)
  }

  finish(trailers: string): void {
    this.#connection?.finish(trailers)
  }

  pause(): void {
    this.#connection?.pause()
  }

  resume(): void {
    this.#connection?.resume()
  }

  /** Gives up the request; nothing more is told. */
  cancel(): void {
    this.#cancelAcquire?.()
    this.#connection?.destroy()
  }

  onInformation(head: ResponseHead): void {
    this.#isAnswered = true
    this.#options.events.onInformation(head)
  }

  onHead(head: ResponseHead, framing: ResponseFraming): void {
    this.#isAnswered = true
    this.#options.events.onHead(head, framing)
  }

  onRead(): boolean {
    return this.#options.events.onRead()
  }

  onData(chunk: Buffer): void {
    this.#options.events.onData(chunk)
  }

  onEnd(trailers: readonly string[]): void {
    this.#connection = undefined
    this.#options.events.onEnd(trailers)
  }

  onUpgrade(head: ResponseHead, socket: Socket, rest: Buffer): void {
    this.#connection = undefined
    this.#options.events.onUpgrade(head, socket, rest)
  }

  onDrain(): void {
    this.#options.events.onDrain()
  }

  onFailure(failure: UpstreamFailure): void {
    const wasReused = this.#connection?.isReused === true && failure.reason === 'closed-early'
    this.#connection = undefined
    const next = this.#isAnswered ? undefined : this.#nextTarget(failure, wasReused)
    if (!next) {
      this.#options.events.onFailure(failure)
      return
    }
    this.#isFresh = next === this.#target
    if (!this.#isFresh) this.#tried = [...this.#tried, this.#target]
    this.#target = next
    this.#acquire()
  }

  #acquire(): void {
    const { pool } = this.#target
    const { isUpgrade } = this.#options.request
    this.#cancelAcquire = isUpgrade ? pool.open(this) : pool.acquire(this, this.#isFresh)
  }

  onConnection(connection: Connection): void {
    const { request, events, idleTimeoutMs } = this.#options
    const { method, isUpgrade, body, responseTimeoutMs } = request
    this.#cancelAcquire = undefined
    this.#connection = connection
    connection.start(
      request.head(this.#target),
      { method, isUpgrade, body, responseTimeoutMs, idleTimeoutMs },
      this,
    )
    events.onSent(this.#target)
  }

  #nextTarget({ reason }: UpstreamFailure, wasReused: boolean): Target | undefined {
    const { request, targets, retryAttempts } = this.#options
    const isUnsent = reason === 'connect-failed' || reason === 'connect-timeout' || reason === 'no-connection'
    const isRepeatable = request.body === 'none' && repeatable.has(request.method)
    if (!isUnsent && !isRepeatable) return undefined
    if (wasReused && !this.#isFresh) return this.#target
    if (this.#tried.length >= retryAttempts) return undefined
    return targets.find((target) => target !== this.#target && !this.#tried.includes(target))
  }
}
