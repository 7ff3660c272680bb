import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Code, GatehouseError } from '../errors.ts'
import type { Call, CallEvents } from '../upstream/call.ts'
import { type FailureReason, UpstreamFailure } from '../upstream/failure.ts'
import type { ResponseHead } from '../upstream/response-parser.ts'
import type { Target } from '../upstream/target.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { failureCodes } from './failures.ts'
import type { RequestBody } from './request-head.ts'
import { responseHeaders, responseTrailers } from './response-head.ts'

/** A request that may pass, and where it goes. */
export interface Forwarding {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly upstream: Upstream
  /** Path and query for the upstream. */
  readonly target: string
  /** Header lines for the upstream, all but Host. */
  readonly headerLines: string
  /** Field lines for the upstream, from name, value, name, value. */
  writeTrailers(rawTrailers: readonly string[]): string
  /** The Host header of the client. */
  readonly host: string
  /** As the client calls the gateway: `http://localhost:8080`. */
  readonly clientOrigin: string
  readonly body: RequestBody
  readonly bodyBytesMax: number
  readonly responseTimeoutMs: number
  readonly isUpgrade: boolean
}

/** What becomes of it; one of the last three comes, once. */
export interface ForwardEvents {
  /** The request is on its way. */
  onSent(): void
  /** The whole response has been handed on. */
  onForwarded(): void
  /** There is no response, or none the client can be given whole. */
  onFailed(error: GatehouseError, wasHeadSent: boolean): void
  /** 101: both sockets belong to a tunnel from here on. */
  onUpgraded(upgrade: Upgrade): void
}

export interface Upgrade {
  readonly head: ResponseHead
  readonly headers: readonly string[]
  readonly upstreamSocket: Socket
  /** What the upstream sent right behind its head. */
  readonly rest: Buffer
}

/** Data up to this size are worth copying to save a write. */
const heldBytesMax = 16_384

/** Sends a request to its upstream and streams both ways. A client that goes away cancels it. */
export function forward(forwarding: Forwarding, events: ForwardEvents): void {
  new Exchange(forwarding, events).start()
}

class Exchange implements CallEvents {
  readonly #forwarding: Forwarding
  readonly #events: ForwardEvents
  readonly #call: Call
  #target: Target | undefined
  #bodyBytes = 0
  #isSettled = false
  #isPumping = false
  #isContinued = false
  /** From the head of the response until it is on its way, with what data has come till then. */
  #isHeadHeld = false
  #firstData: Buffer | undefined

  constructor(forwarding: Forwarding, events: ForwardEvents) {
    const { request, upstream, target, headerLines, host, body, responseTimeoutMs, isUpgrade } = forwarding
    this.#forwarding = forwarding
    this.#events = events
    const requestLine = `${request.method} ${target} HTTP/1.1\r\nHost: `
    this.#call = upstream.createCall(
      {
        method: request.method ?? '',
        isUpgrade,
        body: body.kind,
        responseTimeoutMs,
        head: ({ authority }) =>
          `${requestLine}${upstream.host === 'client' ? host : authority}\r\n${headerLines}\r\n`,
      },
      this,
    )
  }

  start(): void {
    const { response } = this.#forwarding
    response.on('close', this.#onClientGone)
    response.on('drain', this.#onResponseDrain)
    this.#call.start()
  }

  onSent(target: Target): void {
    this.#target = target
    this.#events.onSent()
    if (this.#forwarding.body.kind !== 'none') this.#startPump()
  }

  onInformation({ status, headers }: ResponseHead): void {
    const { request, response } = this.#forwarding
    // HTTP/1.0 knows no 1xx (RFC 9110 15.2); an unasked 100 says nothing to anybody.
    if (request.httpVersionMinor === 0) return
    if (status !== 100) response.writeInformation(status, this.#headersForClient(status, headers))
    else if (request.headers.expect !== undefined && !this.#isContinued) {
      this.#isContinued = true
      response.writeContinue()
    }
  }

  onHead({ status, reason, headers }: ResponseHead): void {
    const { response } = this.#forwarding
    // The Date is the upstream's, or none.
    response.sendDate = false
    response.writeHead(status, reason, this.#headersForClient(status, headers))
    this.#isHeadHeld = true
    process.nextTick(this.#flush)
  }

  onData(chunk: Buffer): void {
    if (this.#isHeadHeld && this.#firstData === undefined && chunk.length <= heldBytesMax)
      this.#firstData = chunk
    else {
      this.#flush()
      this.#write(chunk)
    }
  }

  onEnd(trailers: readonly string[]): void {
    const { response } = this.#forwarding
    if (!this.#settle()) return
    if (trailers.length > 0 && response.chunkedEncoding) response.addTrailers(responseTrailers(trailers))
    // As text of one byte a character, which Node joins with the head for a single write.
    if (this.#firstData !== undefined && this.#isHeadHeld)
      response.end(this.#firstData.toString('latin1'), 'latin1')
    else response.end()
    this.#isHeadHeld = false
    this.#events.onForwarded()
  }

  onUpgrade(head: ResponseHead, upstreamSocket: Socket, rest: Buffer): void {
    if (!this.#settle()) return
    const headers = this.#headersForClient(head.status, head.headers)
    this.#events.onUpgraded({ head, headers, upstreamSocket, rest })
  }

  onFailure(failure: UpstreamFailure): void {
    this.#fail(failureCodes[failure.reason], failure)
  }

  onDrain(): void {
    if (this.#isPumping) this.#forwarding.request.resume()
  }

  /**
   * Lets head and first data go. They wait for the end of what has arrived at once, and no longer: a small
   * answer is written in one piece, and the head of an event stream does not wait for an event.
   */
  readonly #flush = (): void => {
    if (!this.#isHeadHeld) return
    this.#isHeadHeld = false
    if (this.#firstData !== undefined) this.#write(this.#firstData)
    else this.#forwarding.response.flushHeaders()
  }

  #write(chunk: Buffer): void {
    if (!this.#forwarding.response.write(chunk)) this.#call.pause()
  }

  #headersForClient(status: number, headers: readonly string[]): string[] {
    const { request, clientOrigin } = this.#forwarding
    const hasBody = request.method !== 'HEAD' && status >= 200 && status !== 204 && status !== 304
    return responseHeaders({
      status,
      headers,
      mayHaveTrailers: hasBody && request.httpVersionMinor === 1 && isChunked(headers),
      targetOrigin: this.#target?.origin ?? '',
      clientOrigin,
    })
  }

  #startPump(): void {
    const { request } = this.#forwarding
    this.#isPumping = true
    request.on('data', this.#onBodyData)
    request.on('end', this.#onBodyEnd)
  }

  #stopPump(): void {
    if (!this.#isPumping) return
    const { request } = this.#forwarding
    this.#isPumping = false
    request.off('data', this.#onBodyData)
    request.off('end', this.#onBodyEnd)
  }

  readonly #onBodyData = (chunk: Buffer): void => {
    this.#bodyBytes += chunk.length
    if (this.#bodyBytes > this.#forwarding.bodyBytesMax) this.#fail('body-too-large')
    else if (!this.#call.write(chunk)) this.#forwarding.request.pause()
  }

  readonly #onBodyEnd = (): void => {
    this.#isPumping = false
    const { request, writeTrailers } = this.#forwarding
    this.#call.finish(request.rawTrailers.length === 0 ? '' : writeTrailers(request.rawTrailers))
  }

  readonly #onResponseDrain = (): void => this.#call.resume()

  readonly #onClientGone = (): void => {
    if (this.#settle()) this.#call.cancel()
  }

  #fail(code: Code, cause?: unknown): void {
    const { response } = this.#forwarding
    if (!this.#settle()) return
    this.#call.cancel()
    this.#events.onFailed(new GatehouseError(code, { cause }), response.headersSent)
  }

  #settle(): boolean {
    if (this.#isSettled) return false
    this.#isSettled = true
    this.#stopPump()
    this.#forwarding.response.off('close', this.#onClientGone)
    return true
  }
}

/** Why an exchange failed, for the log. */
export function failureReason(error: GatehouseError): FailureReason | undefined {
  return error.cause instanceof UpstreamFailure ? error.cause.reason : undefined
}

function isChunked(headers: readonly string[]): boolean {
  for (let index = 0; index < headers.length; index += 2) {
    if (headers[index]?.length === 17 && headers[index]?.toLowerCase() === 'transfer-encoding') return true
  }
  return false
}
