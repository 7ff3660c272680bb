import { Socket } from 'node:net'
import { type ClientExchange, isExtendedConnect, type RequestEvents } from '#http/client-exchange.ts'
import { ownedCopy } from '#http/read-memory.ts'
import { type BodyTooSlow, fieldsIn, type MalformedMessage } from '#http/request-head.ts'
import type { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { IncomingMessage, ServerResponse } from '#platform/http.ts'
import type { Arrival } from '../arrival/arrival.ts'
import { attachArrival } from '../arrival/endpoint-arrival.ts'
import { destinationOf, recordStatus } from '../arrival/outcome.ts'
import { brokenBodyError, sendProblem } from '../refusals/send-problem.ts'
import { portalMethods, unlistedMethod } from '../routes/own-operations.ts'
import type { OwnPaths } from '../routes/own-paths.ts'
import { ExchangeResponse } from './exchange-response.ts'

/** The part of Fastify that is needed here: it serves these endpoints. */
interface EndpointRouter {
  routing(request: IncomingMessage, response: ServerResponse): void
}

/** The endpoints of one config. */
export interface EndpointParts {
  readonly api: EndpointRouter
  readonly ownPaths: Pick<OwnPaths, 'methodsOf'>
}

interface OwnEndpoints {
  /** Answers a request to one of them, using those of its config. */
  handle(arrival: Arrival, parts: EndpointParts): void
  /** From now on responses that have not started have `Connection: close`. */
  startDrain(): void
  /**
   * Answers with a problem if this request has not been answered; a started response is aborted.
   * @returns false if the request is not for these endpoints
   */
  abort(arrival: Arrival, error: GatehouseError): boolean
}

/** Passes requests to Fastify, which needs the objects of node:http: they are created for these few requests only. */
export function createOwnEndpoints(): OwnEndpoints {
  const responses = new Map<Arrival, ServerResponse>()

  function handle(arrival: Arrival, { api, ownPaths }: EndpointParts): void {
    const { exchange, outcome, requestId } = arrival
    const request = createIncomingMessage(arrival, ownPaths.methodsOf(destinationOf(outcome).target.path))
    const response = openResponse(request, exchange, end)
    attachArrival(request, arrival)
    response.setHeader('X-Request-Id', requestId)
    for (const [name, value] of outcome.corsHeaders?.fields ?? []) response.setHeader(name, value)
    responses.set(arrival, response)
    response.shouldKeepAlive = exchange.canPersist()
    exchange.attach(new NodeHttpAdapter(request, response))
    response.once('close', end)
    response.once('prefinish', () => exchange.startSendTimeout())
    response.once('finish', () => {
      end()
      if (exchange.socket === undefined) return
      response.detachSocket(exchange.socket)
      response.emit('close')
      exchange.endOnSocket(response.shouldKeepAlive && !hasConnectionClose(response))
    })
    api.routing(request, response)

    function end(): void {
      responses.delete(arrival)
      if (response.headersSent) recordStatus(outcome, response.statusCode)
    }
  }

  return {
    handle,
    startDrain: () => {
      for (const response of responses.values()) if (!response.headersSent) response.shouldKeepAlive = false
    },
    abort: (arrival, error) => {
      const response = responses.get(arrival)
      if (!response) return false
      if (response.headersSent) recordStatus(arrival.outcome, response.statusCode)
      // A handler that is still working on the request may write after the end.
      response.on('error', () => {})
      sendProblem(response.req, response, error)
      return true
    },
  }
}

/** @param onEnding called before the exchange ends, if the response is written to the exchange directly */
function openResponse(
  request: IncomingMessage,
  exchange: ClientExchange,
  onEnding: () => void,
): ServerResponse {
  // The cast is sound: ExchangeResponse has everything that Fastify and this file use of a response.
  if (exchange.socket === undefined)
    return new ExchangeResponse(request, exchange, onEnding) as unknown as ServerResponse
  const response = new ServerResponse(request)
  response.assignSocket(exchange.socket)
  return response
}

/** Whether the response has `Connection: close`, whoever set it: node:http records this in `_last` only. */
function hasConnectionClose(response: ServerResponse): boolean {
  // The cast is sound: if the property is missing, it is undefined.
  return (response as { readonly _last?: boolean })._last === true
}

class NodeHttpAdapter implements RequestEvents {
  readonly writesToSocket = true
  readonly #request: IncomingMessage
  readonly #response: ServerResponse

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.#request = request
    this.#response = response
  }

  onBodyData(chunk: Buffer): void {
    this.#request.push(ownedCopy(chunk))
  }

  isChunkReleased(): boolean {
    return false
  }

  onBodyEnd(): void {
    this.#request.complete = true
    this.#request.push(null)
  }

  onBodyError(error: MalformedMessage | BodyTooSlow): void {
    this.#response.shouldKeepAlive = false
    sendProblem(this.#request, this.#response, brokenBodyError(error))
  }

  onClientDrain(): void {
    if (this.#response instanceof ExchangeResponse) this.#response.onClientDrain()
    else this.#response.emit('drain')
  }

  onAbort(): void {
    this.#request.destroy()
    this.#response.destroy()
  }
}

/** @param methods those that its path supports; default: those of the portal, which decides by itself */
function createIncomingMessage({ exchange, head }: Arrival, methods = portalMethods): IncomingMessage {
  const { method, target, minorVersion, rawHeaders } = head
  // No endpoint uses the socket.
  const request = new IncomingMessage(exchange.socket ?? new Socket())
  // Methods that the path does not support, such as CONNECT, are all refused in the same way. HEAD stays, as its
  // refusal has no body.
  const isListed = (method === 'HEAD' || methods.includes(method)) && !isExtendedConnect(exchange, head)
  request.method = isListed ? method : unlistedMethod
  request.url = target
  // Fastify sets Connection unless the version is 2, whose responses have no such field.
  const { isHttp2 } = exchange
  request.httpVersionMajor = isHttp2 ? 2 : 1
  request.httpVersionMinor = isHttp2 ? 0 : minorVersion
  request.httpVersion = `${request.httpVersionMajor}.${request.httpVersionMinor}`
  request.rawHeaders = [...rawHeaders]
  request.headers = joinHeaders(rawHeaders)
  if (exchange.bodyState === 'complete') {
    request.complete = true
    request.push(null)
  } else request._read = () => exchange.resumeBody()
  return request
}

/** Only the first field of these names counts, as in Node. */
const singletonFields = new Set([
  'age',
  'authorization',
  'content-length',
  'content-type',
  'etag',
  'expires',
  'from',
  'host',
  'if-modified-since',
  'if-unmodified-since',
  'last-modified',
  'location',
  'max-forwards',
  'proxy-authorization',
  'referer',
  'retry-after',
  'server',
  'user-agent',
])

/** Headers by name in lower case, those of one name joined. */
export function joinHeaders(rawHeaders: readonly string[]): Record<string, string> {
  const joined: Record<string, string> = Object.create(null)
  for (const [sentName, value] of fieldsIn(rawHeaders)) {
    const name = sentName.toLowerCase()
    const existing = joined[name]
    if (existing === undefined) joined[name] = value
    else if (!singletonFields.has(name)) joined[name] = existing + (name === 'cookie' ? '; ' : ', ') + value
  }
  return joined
}
