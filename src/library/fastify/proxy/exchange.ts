import { EventEmitter } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { SecondTargets } from '#gateway/forward/forwarded-request.ts'
import { secondTargetLines } from '#gateway/forward/forwarded-request-head.ts'
import type { RequestHeadInput } from '#gateway/forward/request-head.ts'
import type { AppArrival } from '../read-arrival.ts'
import type { ProxyRoute } from './proxy-route.ts'
import { RequestBodyStream } from './request-body.ts'

/** A request that was admitted, and what the backend gets of it. */
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

export interface ExchangeInput {
  readonly arrival: AppArrival
  readonly route: ProxyRoute
  readonly target: string
  /** The lines for the backend, each ended by CR LF. */
  readonly lines: string
  readonly head: RequestHeadInput
  /** Those that were checked; undefined = the request names none. */
  readonly secondTargets: SecondTargets | undefined
}

/** Keeps what the backend gets with the request, until its handler runs. */
export function attachExchange(request: IncomingMessage, reply: FastifyReply, input: ExchangeInput): void {
  const { arrival, route, target, lines, secondTargets } = input
  const { body, rawHeaders } = arrival.head
  const signal = new EventEmitter()
  const { raw: response } = reply
  response.once('close', () => {
    if (!response.writableFinished) signal.emit('abort')
  })
  const host = route.upstream.host === 'client' ? hostOf(rawHeaders) : route.upstream.url.host
  const { origin } = route.upstream.url
  const targets =
    secondTargets === undefined ? '' : secondTargetLines(secondTargets, { origin, sentHost: host })
  const exchange: Exchange = {
    arrival,
    route,
    target,
    strippedPrefix: input.head.strippedPrefix,
    isLast: input.head.isLast,
    fields: fieldsOf(`Host: ${host}\r\n${targets}${lines}`),
    body: body.kind === 'none' ? null : new RequestBodyStream(request, route.bodyBytesMax),
    signal,
  }
  Object.assign(request, { [exchangeKey]: exchange })
}

function hostOf(rawHeaders: readonly string[]): string {
  const index = rawHeaders.findIndex((name, at) => at % 2 === 0 && name.toLowerCase() === 'host')
  return rawHeaders[index + 1] ?? ''
}

/** What the HTTP client sets itself, or refuses to send: framing and the fields of its connection. */
const connectionFields = new Set(['connection', 'te', 'transfer-encoding', 'upgrade', 'expect'])

/** The fields of lines that each end with CR LF, without those of the connection. */
function fieldsOf(lines: string): readonly string[] {
  const fields: string[] = []
  for (let start = 0; start < lines.length; ) {
    const colon = lines.indexOf(':', start)
    const end = lines.indexOf('\r\n', colon)
    const name = lines.slice(start, colon)
    if (!connectionFields.has(name.toLowerCase())) fields.push(name, lines.slice(colon + 2, end))
    start = end + 2
  }
  return fields
}

/** Symbols pass through http-proxy, which copies headers from object to object. */
const headersKey = Symbol('exchange of these headers')

/** Headers that stand for an exchange. */
export function headersFor(exchange: Exchange): Record<string, string> {
  return { [headersKey]: exchange } as Record<string, string>
}

/** The exchange that headers stand for. */
export function exchangeIn(headers: object): Exchange {
  const exchange = (headers as { [headersKey]?: Exchange })[headersKey]
  if (!exchange)
    throw new Error(
      'gatehouse: the options of http-proxy were changed: headers are not those of an admitted request',
    )
  return exchange
}
