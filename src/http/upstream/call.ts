import type { Socket } from 'node:net'
import type { MonotonicMs } from '#platform/time.ts'
import type { ResponseFraming } from '../client-exchange.ts'
import {
  isConnectFailure,
  isTargetFault,
  mayBeSentAgain,
  Unsent,
  UpstreamFailure,
} from '../outgoing/failure.ts'
import type { ResponseHead } from '../outgoing/response-head.ts'
import { SentBody } from '../outgoing/sent-body.ts'
import type { UpstreamConnection, UpstreamResponseEvents } from '../outgoing/upstream-connection.ts'
import type { ChooseTarget } from './balancer.ts'
import type { Acquisition, Waiter } from './pool/parties.ts'
import { noTargets, releaseOnClose, type Target } from './target.ts'
import type { AdoptedRequest, CallEvents, UpstreamRequest } from './upstream-request.ts'

export interface CallOptions {
  readonly chooseTarget: ChooseTarget
  /** How many other targets are tried after a failure. */
  readonly retryAttempts: number
}

/**
 * One request to an upstream. If it fails before any byte of a response has arrived, it is retried at another healthy
 * target where that is safe: no connection was made, the target has not begun to process it (RFC 9113 6.8, 8.7), or it
 * has no body and a method that may be repeated. If a reused connection was closed just as the request was sent, which
 * says nothing about the target, it is first repeated there once, on a new connection. It is also repeated there if the
 * target has refused to process it and no other target is left.
 */
export class Call implements UpstreamResponseEvents, Waiter {
  readonly request: UpstreamRequest
  readonly #events: CallEvents
  readonly #options: CallOptions
  /** The targets tried before the current one. */
  #tried = noTargets
  /** undefined before the call has started and after it has ended. */
  #target: Target | undefined
  #connection: UpstreamConnection | undefined
  #acquisition: Acquisition | undefined
  #isAnswered = false
  /** Whether the request is repeated at the current target. */
  #isRepeated = false
  /** The part of the body that can be sent again; undefined = there is no body, it is gone, or it is not needed. */
  #sentBody: SentBody | undefined
  /** Whether the request is the trial of an ejected target. */
  #isTrial = false

  constructor(request: UpstreamRequest, events: CallEvents, options: CallOptions) {
    this.request = request
    this.#events = events
    this.#options = options
  }

  /** @param target default: as the upstream chooses */
  start(target = this.#options.chooseTarget(this.request, noTargets)): void {
    if (target) this.#sendTo(target)
    else this.#events.onFailure(new UpstreamFailure('no-target', 'no target is healthy'))
  }

  /** Takes over a request from other code; its events now go to this call. */
  adopt({ target, connection, body, isAnswered }: AdoptedRequest): void {
    this.#target = target
    this.#sentBody = body && SentBody.of(body)
    this.#connection = connection
    this.#isAnswered = isAnswered
    connection?.redirect(this)
  }

  /** @returns false where more should wait for onDrain */
  write(chunk: Buffer): boolean {
    const sentBody = this.#sentBody
    if (!sentBody) return this.#connection?.write(chunk) ?? false
    const kept = sentBody.add(chunk)
    // Until the request is sent again, further data has to wait.
    if (!this.#connection) return false
    if (sentBody.isTooLarge) this.#sentBody = undefined
    return this.#connection.write(kept)
  }

  /** Whether all memory that was written is released; never while the body is kept to be sent again. */
  get hasWrittenAll(): boolean {
    return this.#sentBody === undefined && this.#connection?.hasWrittenAll === true
  }

  /** To be called when `bodyProgress` has changed while the request waits for a connection. */
  onBodyProgress(): void {
    this.#acquisition?.onBodyProgress()
  }

  finish(trailers: string): void {
    this.#sentBody?.finish(trailers)
    this.#connection?.finish(trailers)
  }

  pause(): void {
    this.#connection?.pause()
  }

  resume(): void {
    this.#connection?.resume()
  }

  /** To be called when the response is long-lived: its connection no longer counts against the pool's maximum. */
  onLasting(): void {
    this.#connection?.holder.onLasting()
  }

  /** Cancels the request, without further events. */
  cancel(): void {
    this.#releaseTarget()
    this.#acquisition?.cancel()
    this.#connection?.destroy()
  }

  onInformation(head: ResponseHead): void {
    this.#noteAnswer()
    this.#events.onInformation(head)
  }

  onHead(head: ResponseHead, framing: ResponseFraming): void {
    this.#noteAnswer()
    if (this.#isTrial) this.#target?.health?.recordTrialAnswer()
    this.#events.onHead(head, framing)
  }

  onRead(): boolean {
    return this.#events.onRead()
  }

  onData(chunk: Buffer): void {
    this.#events.onData(chunk)
  }

  onEnd(trailers: readonly string[], last?: string): void {
    this.#connection = undefined
    this.#releaseTarget()
    this.#events.onEnd(trailers, last)
  }

  onUpgrade(head: ResponseHead, socket: Socket, rest: Buffer): void {
    this.#connection = undefined
    if (this.#isTrial) this.#target?.health?.recordTrialAnswer()
    if (this.#target) releaseOnClose(this.#target, socket)
    this.#target = undefined
    this.#events.onUpgrade(head, socket, rest)
  }

  onDrain(): void {
    this.#events.onDrain()
  }

  onFailure(failure: UpstreamFailure): void {
    const isConnectionFault = this.#isConnectionFault(failure)
    this.#connection = undefined
    if (failure instanceof Unsent) this.#sentBody ??= failure.body
    if (!isConnectionFault) this.#recordFailure(failure)
    const isBodyGone = this.request.body !== 'none' && !this.#sentBody
    const mayRetry = !this.#isAnswered && mayBeSentAgain(this.request, failure.reason, isBodyGone)
    if (mayRetry && isConnectionFault && this.#repeat('new')) return
    const next = mayRetry ? this.#nextTarget() : undefined
    // No other target is left for the request that this one refused; it may accept the request now.
    if (mayRetry && !next && failure.reason === 'not-processed' && this.#repeat('any')) return
    this.#releaseTarget()
    if (next) this.#sendTo(next)
    else this.#events.onFailure(failure)
  }

  onConnection(connection: UpstreamConnection, now: MonotonicMs): void {
    const target = this.#target
    if (!target) {
      connection.destroy()
      return
    }
    this.#acquisition = undefined
    this.#connection = connection
    connection.start(this.request.headFor(target), this.request, this, now)
    if (this.request.body !== 'none' && (connection.mayRefuse || this.#sentBody))
      this.#sendBodyAgain(connection)
    this.#events.onSent(target, now)
  }

  /** Sends the kept part of the body. The first time nothing has been kept yet: keeping begins now. */
  #sendBodyAgain(connection: UpstreamConnection): void {
    this.#sentBody ??= new SentBody()
    this.#sentBody.sendOn(connection)
    if (this.#sentBody.isTooLarge || !connection.mayRefuse) this.#sentBody = undefined
  }

  #sendTo(target: Target): void {
    target.inFlight++
    this.#target = target
    this.#isTrial = target.health?.isEjected === true
    this.#isRepeated = false
    this.#acquire('any')
  }

  /** @param which `new` after a failure, as what ended one connection may have ended all open ones */
  #acquire(which: 'new' | 'any'): void {
    const pool = this.#target?.pool
    this.#acquisition = this.request.isUpgrade ? pool?.open(this) : pool?.acquire(this, which === 'new')
  }

  /** Repeats the request once at the same target. @returns false if that was done already */
  #repeat(which: 'new' | 'any'): boolean {
    if (this.#isRepeated) return false
    this.#isRepeated = true
    this.#acquire(which)
    return true
  }

  /** The target has answered, so the request is not repeated any more. */
  #noteAnswer(): void {
    this.#isAnswered = true
    this.#sentBody = undefined
  }

  /** Whether only the connection was about to end, which says nothing about the target. */
  #isConnectionFault({ reason }: UpstreamFailure): boolean {
    const connection = this.#connection
    if (this.#isAnswered || !connection) return false
    if (reason === 'not-processed') return !connection.isOpen
    return reason === 'closed-early' && connection.isReused && !connection.isOpen
  }

  /** Counts the failure against the target, if it is the target's fault. */
  #recordFailure(failure: UpstreamFailure): void {
    const { reason, message } = failure
    if (!isTargetFault(reason)) return
    const client = isConnectFailure(reason) ? undefined : this.request
    this.#target?.health?.recordFailure(
      `${reason}: ${message}`,
      client && { clientNetwork: client.clientNetwork, accountId: client.accountId },
      this.#isTrial,
    )
  }

  /** Another target for a request that may be retried; undefined if no target or no attempt is left. */
  #nextTarget(): Target | undefined {
    if (!this.#target || this.#tried.length >= this.#options.retryAttempts) return undefined
    this.#tried = [...this.#tried, this.#target]
    return this.#options.chooseTarget(this.request, this.#tried)
  }

  #releaseTarget(): void {
    if (this.#target) this.#target.inFlight--
    this.#target = undefined
  }
}
