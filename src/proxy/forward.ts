import type { Socket } from 'node:net'
import { type Code, GatehouseError } from '../errors.ts'
import type { Call, CallEvents, UpstreamRequest } from '../upstream/call.ts'
import type { UpstreamFailure } from '../upstream/failure.ts'
import type { ResponseHead } from '../upstream/response-head.ts'
import type { Target } from '../upstream/target.ts'
import type { Upstream } from '../upstream/upstream.ts'
import type { ClientConnection } from '../wire/client-connection.ts'
import type { RequestEvents } from '../wire/connection-events.ts'
import { hasWrittenAll } from '../wire/let-go.ts'
import type { MalformedMessage } from '../wire/malformed.ts'
import type { RequestHead } from '../wire/request-head.ts'
import type { ResponseFraming } from '../wire/response-writer.ts'
import { type CrossOrigin, withCrossOrigin, withoutCrossOrigin } from './cross-origin.ts'
import { failureCodes } from './failures.ts'
import { responseLines, responseTrailerLines } from './response-head.ts'

/** A request that may pass, and where it goes. */
export interface Forwarding {
  readonly connection: ClientConnection
  readonly head: RequestHead
  readonly upstream: Upstream
  /** Path and query for the upstream. */
  readonly target: string
  /** Header lines for the upstream, all but Host. */
  readonly headerLines: string
  /** Field lines for the upstream, from name, value, name, value. */
  writeTrailers(rawTrailers: readonly string[]): string
  /** The Host header of the client. */
  readonly host: string
  /** The client's address, and by which protocol and host it calls the gateway: `http`, and `localhost:8080`. */
  readonly client: { readonly address: string; readonly protocol: string; readonly host: string }
  readonly bodyBytesMax: number
  readonly responseTimeoutMs: number
  readonly isUpgrade: boolean
  /** What the answer says about CORS; undefined = what the upstream says. */
  readonly crossOrigin: CrossOrigin | undefined
}

/** What happens to a forwarded request; one of the last three comes, once, unless the client leaves. */
export interface ForwardEvents<Forwarded extends Forwarding> {
  /** The request is on its way. @param now on the clock of performance.now() */
  onSent(forwarded: Forwarded, now: number): void
  /** The head of the response has come. */
  onAnswered(forwarded: Forwarded, status: number): void
  /** The whole response has been handed on. */
  onForwarded(forwarded: Forwarded): void
  /** There is no response, or the client cannot be given the whole of it. */
  onFailed(forwarded: Forwarded, error: GatehouseError | MalformedMessage): void
  /** 101: both sockets belong to a tunnel from here on. */
  onUpgraded(forwarded: Forwarded, upgrade: Upgrade): void
}

export interface Upgrade {
  readonly reason: string
  /** Header lines for the client, each ended by CR LF. */
  readonly lines: string
  readonly upstreamSocket: Socket
  /** What the upstream sent right after its head. */
  readonly rest: Buffer
}

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
  readonly responseTimeoutMs: number
  readonly #forwarding: Forwarded
  readonly #events: ForwardEvents<Forwarded>
  readonly #connection: ClientConnection
  readonly #call: Call
  #target: Target | undefined
  #bodyBytes = 0
  #isSettled = false
  #isContinued = false
  #isChunked = false

  constructor(forwarding: Forwarded, events: ForwardEvents<Forwarded>) {
    const { connection, head, upstream, responseTimeoutMs, isUpgrade } = forwarding
    this.method = head.method
    this.isUpgrade = isUpgrade
    this.body = head.body.kind
    this.responseTimeoutMs = responseTimeoutMs
    this.#forwarding = forwarding
    this.#events = events
    this.#connection = connection
    this.#call = upstream.createCall(this, this)
  }

  get clientAddress(): string {
    return this.#forwarding.client.address
  }

  head({ authority }: Target): string {
    const { target, upstream, host, headerLines } = this.#forwarding
    const hostLine = `Host: ${upstream.host === 'client' ? host : authority}`
    return `${this.method} ${target} HTTP/1.1\r\n${hostLine}\r\n${headerLines}\r\n`
  }

  start(): void {
    this.#connection.attach(this)
    this.#call.start()
  }

  onSent(target: Target, now: number): void {
    this.#target = target
    this.#events.onSent(this.#forwarding, now)
    if (this.#forwarding.head.body.kind !== 'none') this.#connection.wantBody()
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
    this.#connection.end(trailers.length > 0 && this.#isChunked ? responseTrailerLines(trailers) : '')
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
    else if (!this.#call.write(chunk)) this.#connection.holdBody()
  }

  hasPassedAll(): boolean {
    return this.#call.hasWrittenAll
  }

  onBodyEnd(trailers: readonly string[]): void {
    this.#call.finish(trailers.length === 0 ? '' : this.#forwarding.writeTrailers(trailers))
  }

  onBodyBroken(error: MalformedMessage): void {
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
