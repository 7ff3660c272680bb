import type { Socket } from 'node:net'
import type { ResponseFraming } from '../exchange/client-exchange.ts'
import type { Balancer, BalancingClient } from './balancer.ts'
import type { ExchangeEvents, RequestOptions } from './exchange.ts'
import { type FailureReason, UpstreamFailure } from './failure.ts'
import type { Acquisition, Waiter } from './pool.ts'
import type { ResponseHead } from './response-head.ts'
import type { BodyProgress, ConnectionUser } from './share.ts'
import type { Target } from './target.ts'
import type { UpstreamConnection } from './upstream-connection.ts'

export interface UpstreamRequest extends RequestOptions, BalancingClient, ConnectionUser {
  /** The whole head for a target, with the empty line at its end. */
  head(target: Target): string
}

export interface CallEvents extends ExchangeEvents {
  /** The head was sent to a target: now the body may follow. @param now on the clock of performance.now() */
  onSent(target: Target, now: number): void
}

/** What all calls of an upstream share. */
export interface CallOptions {
  readonly chooseTarget: Balancer<Target>
  /** How many other targets are tried after a failure. */
  readonly retryAttempts: number
}

/** Safe methods, which may be retried (RFC 9110 9.2.1, 9.2.2). */
const retryableMethods = new Set(['GET', 'HEAD', 'OPTIONS'])
/**
 * Failures that are not the target's fault: all our connections to it are in use, the client stopped sending, or this
 * machine has run out of descriptors, ports or memory.
 */
const notTargetFault = new Set<FailureReason>([
  'no-connection',
  'no-resources',
  'body-stalled',
  'not-processed',
])
/** Failures before anything was sent: no client can cause them. */
const unsent = new Set<FailureReason>(['connect-failed', 'connect-timeout'])
const none: readonly Target[] = []

/**
 * One request to an upstream. If it fails before any byte of a response has arrived, it is retried at another healthy
 * target, provided that no connection was made or the request is safe to repeat. A reused connection that the target
 * closed at the same moment is not a failure of the target: a new connection to it is tried first.
 */
export class Call implements ExchangeEvents, Waiter {
  readonly #request: UpstreamRequest
  readonly #events: CallEvents
  readonly #options: CallOptions
  /** The targets tried before the current one. */
  #tried = none
  /** undefined before it starts and after it is over. */
  #target: Target | undefined
  #connection: UpstreamConnection | undefined
  #acquisition: Acquisition | undefined
  #isAnswered = false
  #needsNewConnection = false
  /** Whether it is the trial of an ejected target. */
  #isTrial = false

  constructor(request: UpstreamRequest, events: CallEvents, options: CallOptions) {
    this.#request = request
    this.#events = events
    this.#options = options
  }

  get clientNetwork(): string {
    return this.#request.clientNetwork
  }

  get accountId(): string | undefined {
    return this.#request.accountId
  }

  get bodyProgress(): BodyProgress {
    return this.#request.bodyProgress
  }

  start(): void {
    const target = this.#options.chooseTarget(this.#request, none)
    if (target) this.#sendTo(target)
    else this.#events.onFailure(new UpstreamFailure('no-target', 'no target is healthy'))
  }

  /** @returns false where more should wait for onDrain */
  write(chunk: Buffer): boolean {
    return this.#connection?.write(chunk) ?? false
  }

  /** Whether all memory that was written is released. */
  get hasWrittenAll(): boolean {
    return this.#connection?.hasWrittenAll === true
  }

  /** To be called when `bodyProgress` has changed while it waits for a connection. */
  onBodyProgress(): void {
    this.#acquisition?.onBodyProgress()
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

  /** Cancels the request; no more events follow. */
  cancel(): void {
    this.#releaseTarget()
    this.#acquisition?.cancel()
    this.#connection?.destroy()
  }

  onInformation(head: ResponseHead): void {
    this.#isAnswered = true
    this.#events.onInformation(head)
  }

  onHead(head: ResponseHead, framing: ResponseFraming): void {
    this.#isAnswered = true
    if (this.#isTrial) this.#target?.health?.recordTrialAnswer()
    this.#events.onHead(head, framing)
  }

  onRead(): boolean {
    return this.#events.onRead()
  }

  onData(chunk: Buffer): void {
    this.#events.onData(chunk)
  }

  onEnd(trailers: readonly string[]): void {
    this.#connection = undefined
    this.#releaseTarget()
    this.#events.onEnd(trailers)
  }

  onUpgrade(head: ResponseHead, socket: Socket, rest: Buffer): void {
    this.#connection = undefined
    if (this.#isTrial) this.#target?.health?.recordTrialAnswer()
    // The target is busy with it as long as it is open.
    socket.once('close', () => this.#releaseTarget())
    this.#events.onUpgrade(head, socket, rest)
  }

  onDrain(): void {
    this.#events.onDrain()
  }

  onFailure(failure: UpstreamFailure): void {
    const wasReused = this.#connection?.isReused === true && failure.reason === 'closed-early'
    const isStaleConnection = wasReused && !this.#isAnswered
    this.#connection = undefined
    if (!isStaleConnection) this.#recordFailure(failure)
    if (isStaleConnection && !this.#needsNewConnection && this.#mayRetry(failure)) {
      this.#needsNewConnection = true
      this.#acquire()
      return
    }
    const next = this.#nextTarget(failure)
    this.#releaseTarget()
    if (next) this.#sendTo(next)
    else this.#events.onFailure(failure)
  }

  onConnection(connection: UpstreamConnection): void {
    const target = this.#target
    if (!target) {
      connection.destroy()
      return
    }
    this.#acquisition = undefined
    this.#connection = connection
    const head = this.#request.head(target)
    const now = performance.now()
    const { method, isUpgrade, body, isLast, responseTimeoutMs, idleTimeoutMs } = this.#request
    connection.start(head, { method, isUpgrade, body, isLast, responseTimeoutMs, idleTimeoutMs }, this, now)
    this.#events.onSent(target, now)
  }

  #sendTo(target: Target): void {
    target.inFlight++
    this.#target = target
    this.#isTrial = target.health?.isEjected === true
    this.#needsNewConnection = false
    this.#acquire()
  }

  #acquire(): void {
    const pool = this.#target?.pool
    this.#acquisition = this.#request.isUpgrade
      ? pool?.open(this)
      : pool?.acquire(this, this.#needsNewConnection)
  }

  /** Counts the failure against the target, if it is the target's own. */
  #recordFailure(failure: UpstreamFailure): void {
    const { reason, message } = failure
    if (notTargetFault.has(reason)) return
    const client = unsent.has(reason) ? undefined : this.#request
    this.#target?.health?.recordFailure(
      `${reason}: ${message}`,
      client && { clientNetwork: client.clientNetwork, accountId: client.accountId },
      this.#isTrial,
    )
  }

  #mayRetry({ reason }: UpstreamFailure): boolean {
    if (this.#isAnswered) return false
    const { body, method } = this.#request
    const isUnsent = unsent.has(reason) || reason === 'no-connection' || reason === 'no-resources'
    // Its body, if it has one, may be gone.
    if (reason === 'not-processed' && body === 'none') return true
    return isUnsent || (body === 'none' && retryableMethods.has(method))
  }

  /**
   * Another target for a request that failed; undefined where the request may not be repeated, or no target is left.
   */
  #nextTarget(failure: UpstreamFailure): Target | undefined {
    if (!this.#target || !this.#mayRetry(failure)) return undefined
    if (this.#tried.length >= this.#options.retryAttempts) return undefined
    this.#tried = [...this.#tried, this.#target]
    return this.#options.chooseTarget(this.#request, this.#tried)
  }

  /** It is no longer in flight. */
  #releaseTarget(): void {
    if (this.#target) this.#target.inFlight--
    this.#target = undefined
  }
}
