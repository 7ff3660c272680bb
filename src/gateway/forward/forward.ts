import type { Socket } from 'node:net'
import type { BodyProgress, ClientExchange, RequestEvents, ResponseFraming } from '#http/client-exchange.ts'
import type { UpstreamFailure } from '#http/outgoing/failure.ts'
import type { ResponseHead } from '#http/outgoing/response-head.ts'
import type { BodyTooSlow, MalformedMessage } from '#http/request-head.ts'
import type { Call } from '#http/upstream/call.ts'
import type { Target } from '#http/upstream/target.ts'
import type { AdoptedRequest, CallEvents } from '#http/upstream/upstream-request.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { MonotonicMs } from '#platform/time.ts'
import { type ForwardEvents, type ForwardedRequest, OutgoingRequest } from './forwarded-request.ts'
import { canHaveTrailers, clientTrailerLines, responseLinesWithCookies } from './forwarded-response.ts'
import { PendingBody } from './pending-body.ts'
import { type ResponseCost, responseCostOf } from './response-cost.ts'
import { clientFramingOf } from './rewritten-response.ts'
import { failureError, handshakeFailure, isEventStream, isOfGrpc, mayLast } from './upstream-answer.ts'

/**
 * Sends a request to its upstream and streams both ways. A client that disconnects cancels it.
 * @param target the one to try first; default: as the upstream chooses
 */
export function forward<Forwarded extends ForwardedRequest>(
  forwarded: Forwarded,
  events: ForwardEvents<Forwarded>,
  target?: Target,
): void {
  new ForwardingExchange(forwarded, events).start(target)
}

/**
 * Continues a request that the fast lane has sent, or has got no connection for; its client has sent all of it.
 * @returns what gets the next events of its exchange
 */
export function adoptRequest<Forwarded extends ForwardedRequest>(
  forwarded: Forwarded,
  events: ForwardEvents<Forwarded>,
  adopted: AdoptedRequest,
): Call {
  return new ForwardingExchange(forwarded, events).adopt(adopted)
}

/** One request and its response. Its methods are the event handlers, so that no closures are created per request. */
class ForwardingExchange<Forwarded extends ForwardedRequest>
  extends OutgoingRequest<Forwarded>
  implements CallEvents, RequestEvents
{
  readonly request: Forwarded
  readonly #events: ForwardEvents<Forwarded>
  readonly #exchange: ClientExchange
  readonly #call: Call
  readonly #cost: ResponseCost | undefined
  #unfollow: (() => void) | undefined
  #target: Target | undefined
  #bodyBytes: number
  /** The body bytes that arrived before there was an upstream connection. */
  #pendingBody: PendingBody | undefined
  #isSettled = false
  /** Whether the client waits for a 100. */
  #awaitsContinue: boolean
  #received: ResponseHead | undefined
  #canHaveTrailers = false

  constructor(request: Forwarded, events: ForwardEvents<Forwarded>) {
    super()
    this.request = request
    const { exchange, head } = request.arrival
    this.#pendingBody = request.heldBody
    this.#bodyBytes = this.#pendingBody?.bytes ?? 0
    this.#awaitsContinue = head.expectsContinue
    this.#events = events
    this.#exchange = exchange
    this.#call = request.route.upstream.createCall(this, this)
    this.#cost = responseCostOf(request, (units) => events.onUnits(request, units))
  }

  get bodyProgress(): BodyProgress {
    if (this.#exchange.bodyState === 'complete' || this.request.isConversation) return 'whole'
    return this.#pendingBody?.isFull === false ? 'held' : 'flowing'
  }

  start(target: Target | undefined): void {
    this.#exchange.attach(this)
    // A client that waits for a 100 sends nothing yet: the target decides with 100 (RFC 9110 10.1.1).
    if (this.bodyProgress !== 'whole' && !this.expectsContinue) this.#pendingBody ??= new PendingBody()
    this.#call.start(target)
    // No connection yet: body bytes that arrive meanwhile show whether the client is slow.
    if (this.#pendingBody) this.onDrain()
  }

  adopt(adopted: AdoptedRequest): Call {
    this.#target = adopted.target
    this.#exchange.attach(this)
    this.#call.adopt(adopted)
    return this.#call
  }

  onSent(target: Target, now: MonotonicMs): void {
    this.#target = target
    this.#events.onSent(this.request, now, target)
    const { chunks = [], trailers } = this.#pendingBody ?? {}
    this.#pendingBody = undefined
    for (const chunk of chunks) this.#call.write(chunk)
    if (trailers) this.#call.finish(this.#trailerLines(trailers))
    else this.onDrain()
  }

  onInformation(received: ResponseHead): void {
    const { status, reason } = received
    // HTTP/1.0 has no 1xx (RFC 9110 15.2); a 100 that the client does not wait for is useless.
    if (this.request.arrival.head.minorVersion === 0 || (status === 100 && !this.#awaitsContinue)) return
    if (status === 100) this.#awaitsContinue = false
    const lines = status === 100 ? '' : this.#clientHeaderLines(received, false)
    if (!this.#exchange.writeInformation(status, reason, lines)) this.#call.pause()
  }

  onHead(received: ResponseHead, framing: ResponseFraming): void {
    const { status, reason } = received
    this.#received = received
    this.request.heldBody?.release()
    this.#cost?.readHead(received.headers)
    if (this.isUpgrade && !this.#acceptsHandshake(received)) return
    this.#canHaveTrailers = canHaveTrailers(this.request, framing)
    this.#events.onResponseHead(this.request, status)
    const lines = this.#clientHeaderLines(received, this.#canHaveTrailers)
    this.#exchange.respond(status, reason, lines, clientFramingOf(framing, this.request.arrival.head))
    if (framing === 'chunked' || framing === 'until-close') this.#onStreaming(received.headers)
  }

  /** Called for a response of unknown length. */
  #onStreaming(headers: readonly string[]): void {
    const { isFollowed, route } = this.request
    const isOfEvents = isEventStream(headers)
    if (mayLast(isOfEvents, route.idleTimeoutMs)) this.#call.onLasting()
    if (isOfGrpc(headers)) this.#events.onGrpcResponse(this.request)
    if (isOfEvents && isFollowed) this.#unfollow = this.#events.onEventStream(this.request)
  }

  onData(chunk: Buffer): void {
    this.#cost?.readBody(chunk)
    if (!this.#exchange.write(chunk)) this.#call.pause()
  }

  onRead(): boolean {
    if (!this.#exchange.flush()) this.#call.pause()
    return this.#exchange.hasWrittenAll
  }

  onEnd(trailers: readonly string[], last = ''): void {
    this.#cost?.readEnd(last, trailers)
    if (!this.#settle()) return
    this.#events.onResponseEnd(this.request)
    const hasTrailers = trailers.length > 0 && this.#canHaveTrailers
    this.#exchange.end(last, hasTrailers ? clientTrailerLines(this.request, this.#received, trailers) : '')
  }

  onUpgrade(received: ResponseHead, upstreamSocket: Socket, firstBytes: Buffer): void {
    const { reason, headers } = received
    this.#cost?.readFields(headers)
    if (!this.#acceptsHandshake(received)) upstreamSocket.destroy()
    if (!this.#settle()) return
    const headerLines = this.#clientHeaderLines(received, false)
    this.#events.onUpgraded(this.request, { reason, headerLines, upstreamSocket, firstBytes })
  }

  /** @returns false where the request has failed with it */
  #acceptsHandshake(received: ResponseHead): boolean {
    const failure = handshakeFailure(this.request.arrival, received)
    if (failure) this.onFailure(failure)
    return failure === undefined
  }

  onFailure(failure: UpstreamFailure): void {
    const isWaiting = this.#exchange.head === this.request.arrival.head
    // An error of our own at the end of the response: the client still waits for the rest.
    if (failure.reason === 'internal' && isWaiting) this.#isSettled = false
    this.#fail(failureError(failure))
  }

  /** More of the body may be written to the upstream, or kept for it. */
  onDrain(): void {
    if (this.#isSettled || this.#exchange.bodyState === 'complete') return
    this.#exchange.resumeBody(this.request.isConversation)
  }

  onBodyData(chunk: Buffer): void {
    this.#bodyBytes += chunk.length
    if (this.#bodyBytes > this.request.route.bodyBytesMax) this.#fail(new GatehouseError('body-too-large'))
    else if (this.#pendingBody) this.#bufferBody(this.#pendingBody, chunk)
    else if (!this.#call.write(chunk)) this.#exchange.pauseBody()
  }

  isChunkReleased(): boolean {
    return this.#call.hasWrittenAll
  }

  onBodyEnd(trailers: readonly string[]): void {
    if (this.#pendingBody) {
      this.#pendingBody.trailers = trailers
      this.#call.onBodyProgress()
    } else this.#call.finish(this.#trailerLines(trailers))
  }

  #bufferBody(pending: PendingBody, chunk: Buffer): void {
    pending.add(chunk)
    if (!pending.isFull) return
    this.#exchange.pauseBody()
    this.#call.onBodyProgress()
  }

  #trailerLines(trailers: readonly string[]): string {
    const { route, terms } = this.request
    return trailers.length > 0 && route.passesTrailers ? terms.writeTrailers(trailers, route.upstream) : ''
  }

  onBodyError(error: MalformedMessage | BodyTooSlow): void {
    this.#fail(error)
  }

  onClientDrain(): void {
    this.#call.resume()
  }

  onAbort(): void {
    if (this.#settle()) this.#call.cancel()
  }

  #clientHeaderLines(received: ResponseHead, mayHaveTrailers: boolean): string {
    return responseLinesWithCookies(this.request, received, this.#target, mayHaveTrailers)
  }

  #fail(error: GatehouseError | MalformedMessage | BodyTooSlow): void {
    if (!this.#settle()) return
    this.#call.cancel()
    this.#events.onFailed(this.request, error)
  }

  #settle(): boolean {
    if (this.#isSettled) return false
    this.#isSettled = true
    this.#cost?.end()
    this.request.heldBody?.release()
    this.#unfollow?.()
    this.#exchange.attach(undefined)
    return true
  }
}
