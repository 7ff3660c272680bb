import type { Socket } from 'node:net'
import { type Code, GatehouseError } from '../errors.ts'
import type { Call, CallEvents, UpstreamRequest } from '../upstream/call.ts'
import type { UpstreamFailure } from '../upstream/failure.ts'
import type { ResponseHead } from '../upstream/response-head.ts'
import type { BodyProgress } from '../upstream/share.ts'
import type { Target } from '../upstream/target.ts'
import type { ClientConnection } from '../wire/client-connection.ts'
import { clientNetwork } from '../wire/client-network.ts'
import type { RequestEvents } from '../wire/connection-events.ts'
import { hasWrittenAll } from '../wire/let-go.ts'
import type { BodyTooSlow, MalformedMessage } from '../wire/malformed.ts'
import type { RequestHead } from '../wire/request-head.ts'
import type { ResponseFraming } from '../wire/response-writer.ts'
import { type CrossOrigin, withCrossOrigin, withoutCrossOrigin } from './cross-origin.ts'
import { EarlyBody } from './early-body.ts'
import { failureCodes } from './failures.ts'
import type { ForwardEvents, Forwarding } from './forwarding.ts'
import { responseLines, responseTrailerLines } from './response-head.ts'

/** Sends a request to its upstream and streams both ways. A client that goes away cancels it. */
export function forward<Forwarded extends Forwarding>(
  forwarded: Forwarded,
  events: ForwardEvents<Forwarded>,
): void {
  new Exchange(forwarded, events).start()
}

/** One request and its response. Its methods are the event handlers: no closures are made for a request. */
class Exchange<Forwarded extends Forwarding> implements UpstreamRequest, CallEvents, RequestEvents {
  readonly method: string
  readonly isUpgrade: boolean
  readonly body: 'none' | 'counted' | 'chunked'
  readonly isLast: boolean
  readonly responseTimeoutMs: number
  readonly #forwarding: Forwarded
  readonly #events: ForwardEvents<Forwarded>
  readonly #connection: ClientConnection
  readonly #call: Call
  #target: Target | undefined
  #bodyBytes = 0
  #isBodyWhole: boolean
  /** What came of the body before there was a connection to send it on. */
  #early: EarlyBody | undefined
  #isSettled = false
  #isContinued = false
  /** Of the response. */
  #headers: readonly string[] = []
  #isChunked = false

  constructor(forwarding: Forwarded, events: ForwardEvents<Forwarded>) {
    const { connection, head, upstream, responseTimeoutMs, isUpgrade } = forwarding
    this.method = head.method
    this.isUpgrade = isUpgrade
    this.body = head.body.kind
    this.isLast = forwarding.isLast
    this.#isBodyWhole = head.body.kind === 'none'
    this.responseTimeoutMs = responseTimeoutMs
    this.#forwarding = forwarding
    this.#events = events
    this.#connection = connection
    this.#call = upstream.createCall(this, this)
  }

  get clientAddress(): string {
    return this.#forwarding.client.address
  }

  get clientNetwork(): string {
    return clientNetwork(this.#forwarding.client.address)
  }

  get accountId(): string | undefined {
    return this.#forwarding.accountId
  }

  get bodyProgress(): BodyProgress {
    if (this.#isBodyWhole) return 'whole'
    return this.#early?.isFull === false ? 'awaited' : 'streaming'
  }

  head({ authority }: Target): string {
    const { target, upstream, host, headerLines } = this.#forwarding
    const hostLine = `Host: ${upstream.host === 'client' ? host : authority}`
    return `${this.method} ${target} HTTP/1.1\r\n${hostLine}\r\n${headerLines}\r\n`
  }

  start(): void {
    const { head } = this.#forwarding
    this.#connection.attach(this)
    // A client that waits for a 100 sends nothing yet: the target decides whether it may.
    if (!this.#isBodyWhole && !head.expectsContinue) this.#early = new EarlyBody()
    this.#call.start()
    // No connection yet: what comes of the body meanwhile shows whether the client is slow.
    if (this.#early && !this.#isSettled) this.#connection.wantBody()
  }

  onSent(target: Target, now: number): void {
    this.#target = target
    this.#events.onSent(this.#forwarding, now)
    const early = this.#early
    this.#early = undefined
    for (const chunk of early?.chunks ?? []) this.#call.write(chunk)
    if (early?.trailers) this.#call.finish(this.#trailerLines(early.trailers))
    else if (!this.#isBodyWhole) this.#connection.wantBody()
  }

  onInformation({ status, reason, headers }: ResponseHead): void {
    const { head } = this.#forwarding
    // HTTP/1.0 knows no 1xx (RFC 9110 15.2); a 100 that the client did not ask for is useless.
    if (head.minorVersion === 0) return
    if (status !== 100) this.#inform(status, reason, this.#linesForClient(status, headers, false))
    else if (head.expectsContinue && !this.#isContinued) {
      this.#isContinued = true
      this.#inform(status, reason, '')
    }
  }

  #inform(status: number, reason: string, lines: string): void {
    if (!this.#connection.inform(status, reason, lines)) this.#call.pause()
  }

  onHead({ status, reason, headers }: ResponseHead, framing: ResponseFraming): void {
    this.#headers = headers
    const toClient = framingToClient(framing, this.#forwarding.head)
    this.#isChunked = toClient === 'chunked'
    this.#events.onAnswered(this.#forwarding, status)
    const lines = this.#linesForClient(status, headers, this.#isChunked && framing === 'chunked')
    this.#connection.respond(status, reason, lines, toClient)
  }

  onData(chunk: Buffer): void {
    if (!this.#connection.write(chunk)) this.#call.pause()
  }

  onRead(): boolean {
    if (!this.#connection.flush()) this.#call.pause()
    return hasWrittenAll(this.#connection.socket)
  }

  onEnd(trailers: readonly string[]): void {
    if (!this.#settle()) return
    this.#events.onForwarded(this.#forwarding)
    this.#connection.end(
      trailers.length > 0 && this.#isChunked ? responseTrailerLines(trailers, this.#headers) : '',
    )
  }

  onUpgrade({ status, reason, headers }: ResponseHead, upstreamSocket: Socket, rest: Buffer): void {
    if (!this.#settle()) return
    const lines = this.#linesForClient(status, headers, false)
    this.#events.onUpgraded(this.#forwarding, { reason, lines, upstreamSocket, rest })
  }

  onFailure(failure: UpstreamFailure): void {
    this.#fail(failureCodes[failure.reason], failure)
  }

  /** More of the body may be written to the upstream. */
  onDrain(): void {
    if (!this.#isSettled && this.#connection.bodyState !== 'whole') this.#connection.wantBody()
  }

  onBodyData(chunk: Buffer): void {
    this.#bodyBytes += chunk.length
    if (this.#bodyBytes > this.#forwarding.bodyBytesMax) this.#fail('body-too-large')
    else if (this.#early) this.#takeEarly(this.#early, chunk)
    else if (!this.#call.write(chunk)) this.#connection.holdBody()
  }

  hasPassedAll(): boolean {
    return this.#call.hasWrittenAll
  }

  onBodyEnd(trailers: readonly string[]): void {
    this.#isBodyWhole = true
    if (this.#early) {
      this.#early.trailers = trailers
      this.#call.onBodyProgress()
    } else this.#call.finish(this.#trailerLines(trailers))
  }

  #takeEarly(early: EarlyBody, chunk: Buffer): void {
    early.add(chunk)
    if (!early.isFull) return
    this.#connection.holdBody()
    this.#call.onBodyProgress()
  }

  #trailerLines(trailers: readonly string[]): string {
    return trailers.length === 0 ? '' : (this.#forwarding.writeTrailers?.(trailers) ?? '')
  }

  onBodyBroken(error: MalformedMessage | BodyTooSlow): void {
    if (!this.#settle()) return
    this.#call.cancel()
    this.#events.onFailed(this.#forwarding, error)
  }

  onClientDrain(): void {
    this.#call.resume()
  }

  onGone(): void {
    if (this.#settle()) this.#call.cancel()
  }

  #linesForClient(status: number, headers: readonly string[], mayHaveTrailers: boolean): string {
    const { crossOrigin } = this.#forwarding
    return responseLines({
      status,
      headers: crossOrigin === undefined ? headers : governed(status, headers, crossOrigin),
      mayHaveTrailers,
      targetOrigin: this.#target?.origin ?? '',
      client: this.#forwarding.client,
    })
  }

  #fail(code: Code, cause?: unknown): void {
    if (!this.#settle()) return
    this.#call.cancel()
    this.#events.onFailed(this.#forwarding, new GatehouseError(code, { cause }))
  }

  #settle(): boolean {
    if (this.#isSettled) return false
    this.#isSettled = true
    this.#connection.attach(undefined)
    return true
  }
}

/** Only the gateway's CORS fields reach the client, and only with the final answer. */
function governed(status: number, headers: readonly string[], crossOrigin: CrossOrigin): readonly string[] {
  return status < 200 ? withoutCrossOrigin(headers) : withCrossOrigin(headers, crossOrigin)
}

/** A body of unknown length is sent in chunks to a client of HTTP/1.1. */
function framingToClient(framing: ResponseFraming, { minorVersion }: RequestHead): ResponseFraming {
  if (framing === 'none' || framing === 'counted') return framing
  return minorVersion === 1 ? 'chunked' : 'until-close'
}
