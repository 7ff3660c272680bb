import type { RequestEvents, ResponseFraming } from '#http/client-exchange.ts'
import type { UpstreamFailure } from '#http/outgoing/failure.ts'
import type { ResponseHead } from '#http/outgoing/response-head.ts'
import type { UpstreamConnection, UpstreamResponseEvents } from '#http/outgoing/upstream-connection.ts'
import type { Acquisition, Waiter } from '#http/upstream/pool/parties.ts'
import { noTargets, type Target } from '#http/upstream/target.ts'
import { type MonotonicMs, monotonicClock } from '#platform/time.ts'
import { recordAnswered, recordSent, recordStatus, recordUpstream } from '../arrival/outcome.ts'
import { adoptRequest, forward } from '../forward/forward.ts'
import { forwardedResponseLines } from '../forward/forwarded-response.ts'
import { failureError } from '../forward/upstream-answer.ts'
import { LaneArrival } from './lane-arrival.ts'

/**
 * The exchange of an ordinary request (fast-lane.ts) with its target. If more has to be done than to relay a response
 * of known length, as when the target fails, the general path takes over (gateway/forward/forward.ts).
 */
export class LaneRequest extends LaneArrival implements RequestEvents, UpstreamResponseEvents, Waiter {
  #target: Target | undefined
  /** The wait for a connection to the target. */
  #acquisition: Acquisition | undefined
  #upstreamConnection: UpstreamConnection | undefined
  /** The body until it is sent; undefined also if there is none. */
  #body: Buffer | undefined

  forward(): void {
    const { upstream } = this.route
    const { events } = this.forwarding
    recordUpstream(this.outcome, upstream.name)
    if (upstream.config.protocol !== 'http1') {
      forward(this, events)
      return
    }
    const target = upstream.chooseTarget(this, noTargets)
    if (target === undefined || target.health?.isEjected || !this.#takeBody()) {
      forward(this, events, target)
      return
    }
    target.inFlight++
    this.#target = target
    this.exchange.attach(this)
    this.#acquisition = target.pool.acquire(this, false)
    // If it is still there, it waits for a connection, longer than its memory is valid.
    if (this.#body !== undefined) this.#body = Buffer.from(this.#body)
  }

  /** @returns false if there is a body that has not arrived as a whole, or is large */
  #takeBody(): boolean {
    if (this.head.body.kind === 'none') return true
    this.#body = this.exchange.takeBody()
    return this.#body !== undefined
  }

  onConnection(connection: UpstreamConnection, now: MonotonicMs): void {
    if (this.#target === undefined) throw new Error('a request without a target')
    this.#upstreamConnection = connection
    connection.start(this.headFor(this.#target), this, this, now)
    const body = this.#body
    if (body !== undefined) {
      this.#body = undefined
      connection.write(body)
      connection.finish('')
    }
    recordSent(this.outcome, now)
  }

  /** A plain target is copied from the request line as it arrived. */
  override headFor(target: Target): string {
    const { head, route, strippedPrefix } = this
    if (!head.hasPlainTarget || strippedPrefix !== undefined) return super.headFor(target)
    const sentHost = route.upstream.host === 'client' ? this.host : target.authority
    return `${head.requestLine}Host: ${sentHost}\r\n${this.headerLines}\r\n`
  }

  /** Whether the response head has been passed on: only then has the outcome a status. */
  get #isAnswered(): boolean {
    return this.outcome.status !== undefined
  }

  /** Lets the general path take over. @param isAnswered whether the response head has been passed on */
  #handOver(isAnswered: boolean): UpstreamResponseEvents {
    const { events } = this.forwarding
    const target = this.#target
    const connection = this.#upstreamConnection
    if (target === undefined) throw new Error('a request without a target')
    return adoptRequest(this, events, { target, connection, body: this.#body, isAnswered })
  }

  onInformation(received: ResponseHead): void {
    this.#handOver(false).onInformation(received)
  }

  onHead(received: ResponseHead, framing: ResponseFraming): void {
    if (framing !== 'none' && framing !== 'counted') {
      this.#handOver(false).onHead(received, framing)
      return
    }
    const { status, reason } = received
    recordStatus(this.outcome, status)
    const lines = forwardedResponseLines(this, received, this.#target, false)
    this.exchange.respond(status, reason, lines, framing)
  }

  onData(chunk: Buffer): void {
    if (!this.exchange.write(chunk)) this.#upstreamConnection?.pause()
  }

  onRead(): boolean {
    if (!this.exchange.flush()) this.#upstreamConnection?.pause()
    return this.exchange.hasWrittenAll
  }

  onEnd(_trailers: readonly string[], last?: string): void {
    this.#settle()
    recordAnswered(this.outcome, monotonicClock())
    this.exchange.end(last)
  }

  onUpgrade(): void {
    throw new Error('an upgrade that was not requested')
  }

  onFailure(failure: UpstreamFailure): void {
    // An error of our own at the end of the response: it is answered 500, or cut off if it has begun.
    if (this.#target === undefined) {
      if (this.exchange.head === this.head) this.forwarding.events.onFailed(this, failureError(failure))
      return
    }
    this.#handOver(this.#isAnswered).onFailure(failure)
  }

  onClientDrain(): void {
    this.#upstreamConnection?.resume()
  }

  onAbort(): void {
    this.#acquisition?.cancel()
    this.#upstreamConnection?.destroy()
    this.#settle()
  }

  #settle(): void {
    if (this.#target) this.#target.inFlight--
    this.#target = undefined
    this.#acquisition = undefined
    this.#upstreamConnection = undefined
    this.exchange.attach(undefined)
  }

  // A body is taken as a whole, or by the general path, so there is nothing to do for these.
  onBodyData(): void {}
  onBodyEnd(): void {}
  onBodyError(): void {}
  onDrain(): void {}
  isChunkReleased(): boolean {
    return true
  }
}
