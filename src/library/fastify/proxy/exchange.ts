import { EventEmitter } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { type SecondTargets, secondTargetLines } from '#gateway/forward/forwarded-request.ts'
import type { RequestHeadInput } from '#gateway/forward/upstream-head.ts'
import { fieldsOf } from '#http/message/field-lines.ts'
import { fieldsIn, valuesOf } from '#http/request-head.ts'
import type { ErrorCode } from '#platform/errors/codes.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { type AppArrival, refuse } from '../app-arrival.ts'
import type { ProxyRoute } from './proxy-options.ts'

/** An admitted request, and what the backend receives of it. */
export interface Exchange {
  readonly arrival: AppArrival
  readonly route: ProxyRoute
  readonly target: string
  readonly strippedPrefix: RequestHeadInput['strippedPrefix']
  /** Name, value, name, value. */
  readonly fields: readonly string[]
  /** See RequestHeadInput. */
  readonly isLast: boolean
  readonly body: RequestBodyStream | null
  /** Emits `abort` when the client has gone. */
  readonly signal: EventEmitter
}

const exchangeKey = Symbol('exchange')

interface Holder {
  [exchangeKey]?: Exchange
}

/** The casts here are sound: nothing else knows the key. */
export function exchangeOf(request: IncomingMessage): Exchange | undefined {
  return (request as Holder)[exchangeKey]
}

interface ExchangeInput {
  readonly arrival: AppArrival
  readonly route: ProxyRoute
  readonly target: string
  /** Field lines for the backend. */
  readonly lines: string
  readonly head: RequestHeadInput
  /** The second targets that were checked; undefined = the request names none. */
  readonly secondTargets: SecondTargets | undefined
}

/** Attaches what the backend receives to the request, until its handler runs. */
export function attachExchange(request: IncomingMessage, reply: FastifyReply, input: ExchangeInput): void {
  const { arrival, route, target, lines, secondTargets } = input
  const { body, rawHeaders } = arrival.head
  const signal = new EventEmitter()
  const { raw: response } = reply
  response.once('close', () => {
    if (!response.writableFinished) signal.emit('abort')
  })
  const host =
    route.upstream.host === 'client' ? (valuesOf(rawHeaders, 'host')[0] ?? '') : route.upstream.url.host
  const { origin } = route.upstream.url
  const targets =
    secondTargets === undefined
      ? ''
      : secondTargetLines(secondTargets, { origin, basePath: '', sentHost: host })
  const exchange: Exchange = {
    arrival,
    route,
    target,
    strippedPrefix: input.head.strippedPrefix,
    isLast: input.head.isLast,
    fields: forwardedFields(`Host: ${host}\r\n${targets}${lines}`),
    body: body.kind === 'none' ? null : new RequestBodyStream(request, route.bodyBytesMax),
    signal,
  }
  Object.assign(request, { [exchangeKey]: exchange })
}

/** Fields that the HTTP client sets itself, or refuses to send: framing and its connection. */
const connectionFields = new Set(['connection', 'te', 'transfer-encoding', 'upgrade', 'expect'])

/** The fields of lines that each end with CR LF, without those of the connection. */
function forwardedFields(lines: string): readonly string[] {
  const fields = [...fieldsIn(fieldsOf(lines, 0, lines.length))]
  return fields.filter(([name]) => !connectionFields.has(name.toLowerCase())).flat()
}

/** Symbols survive http-proxy, which copies headers from object to object. */
const headersKey = Symbol('exchange of these headers')

/** Headers that represent an exchange. */
export function headersFor(exchange: Exchange): Record<string, string> {
  return { [headersKey]: exchange } as Record<string, string>
}

/** The exchange that headers represent. */
export function exchangeIn(headers: object): Exchange {
  const exchange = (headers as { [headersKey]?: Exchange })[headersKey]
  if (!exchange)
    throw new Error(
      'gatehouse: the options of http-proxy were changed: headers are not those of an admitted request',
    )
  return exchange
}

/** Ends the exchange with the backend, because the client has gone. */
class ClientGone extends Error {
  override readonly name = 'ClientGone'
}

/**
 * The body of a request for the backend: only read when the backend takes it, up to `bytesMax`. Not the request itself,
 * as destroying that would destroy the connection, and the client would get no response.
 */
class RequestBodyStream extends Readable {
  readonly #request: IncomingMessage
  readonly #bytesMax: number
  #bytes = 0
  #isAttached = false

  constructor(request: IncomingMessage, bytesMax: number) {
    super()
    this.#request = request
    this.#bytesMax = bytesMax
  }

  override _read(): void {
    if (!this.#isAttached) this.#attach()
    this.#request.resume()
  }

  #attach(): void {
    this.#isAttached = true
    this.#request.on('data', this.#onData).on('end', this.#onEnd).on('close', this.#onClose)
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#bytes += chunk.length
    if (this.#bytes > this.#bytesMax) this.destroy(new GatehouseError('body-too-large'))
    else if (!this.push(chunk)) this.#request.pause()
  }

  readonly #onEnd = (): void => {
    this.push(null)
  }

  readonly #onClose = (): void => {
    if (!this.#request.complete) this.destroy(new ClientGone('the client has gone'))
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#request.off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onClose)
    // Further data is discarded, so that the response reaches the client.
    if (this.#isAttached) this.#request.resume()
    done(error)
  }
}

/** Codes of undici and Node after which a response can still be sent; all others concern the connection. */
const codes: Readonly<Record<string, ErrorCode>> = {
  UND_ERR_CONNECT_TIMEOUT: 'upstream-timeout',
  UND_ERR_HEADERS_TIMEOUT: 'upstream-timeout',
  UND_ERR_BODY_TIMEOUT: 'upstream-timeout',
  UND_ERR_SOCKET: 'upstream-invalid-response',
  UND_ERR_RESPONSE: 'upstream-invalid-response',
  UND_ERR_HEADERS_OVERFLOW: 'upstream-invalid-response',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'upstream-invalid-response',
  ECONNRESET: 'upstream-invalid-response',
  EPIPE: 'upstream-invalid-response',
}

/** Answers a request whose exchange with the backend failed before a response, without its address or the cause. */
export function answerFailure(reply: FastifyReply, error: unknown): void {
  const exchange = exchangeOf(reply.request.raw)
  if (!exchange || reply.sent || reply.raw.destroyed) return
  refuse(reply, exchange.arrival, toFailure(error))
}

function toFailure(error: unknown): GatehouseError {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  if (cause instanceof GatehouseError) return cause
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  const isUnreadable = cause instanceof Error && cause.name === 'HTTPParserError'
  return new GatehouseError(
    isUnreadable ? 'upstream-invalid-response' : (codes[code] ?? 'upstream-unreachable'),
    {
      cause,
    },
  )
}
