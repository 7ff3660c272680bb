import { IncomingMessage, ServerResponse } from 'node:http'
import type { GatehouseError } from '../errors.ts'
import type { RequestEvents } from '../wire/connection-events.ts'
import type { MalformedMessage } from '../wire/malformed.ts'
import { type Arrival, rememberArrival } from './arrival.ts'
import { joinHeaders } from './join-headers.ts'
import { otherMethod, ownMethods } from './own-route.ts'
import { sendProblem } from './problem.ts'
import { malformedError } from './unreadable.ts'

/** Who answers for these endpoints: Fastify, of which no more is needed. */
export interface OwnScope {
  routing(request: IncomingMessage, response: ServerResponse): void
}

/** The endpoints of the gateway itself. */
export interface OwnEndpoints {
  /** Carries out a request for one of them. */
  carryOut(arrival: Arrival): void
  /** Answers that have not begun are to say that the connection ends. */
  startDrain(): void
  /**
   * Answers with a problem where this request has not been answered; an answer that has begun is broken off.
   * @returns false where it is no request for them
   */
  giveUp(arrival: Arrival, error: GatehouseError): boolean
}

const knownMethods: ReadonlySet<string> = new Set(ownMethods)

/**
 * Lends the connection of a request to Fastify, which wants the objects of node:http: they are made for these
 * few requests alone.
 */
export function createOwnEndpoints(scope: OwnScope): OwnEndpoints {
  const responses = new Map<Arrival, ServerResponse>()

  function carryOut(arrival: Arrival): void {
    const { connection, outcome, crossOrigin } = arrival
    const request = requestOf(arrival)
    const response = new ServerResponse(request)
    rememberArrival(request, arrival)
    for (const [name, value] of crossOrigin?.fields ?? []) response.setHeader(name, value)
    responses.set(arrival, response)
    response.shouldKeepAlive = connection.canPersist()
    response.assignSocket(connection.socket)
    connection.attach(new LentConnection(request, response))
    const end = () => {
      responses.delete(arrival)
      if (response.headersSent) outcome.status = response.statusCode
    }
    response.once('close', end)
    response.once('prefinish', () => connection.awaitReader())
    response.once('finish', () => {
      end()
      response.detachSocket(connection.socket)
      response.emit('close')
      connection.endElsewhere({ closes: !response.shouldKeepAlive || saysClose(response) })
    })
    scope.routing(request, response)
  }

  return {
    carryOut,
    startDrain: () => {
      for (const response of responses.values()) if (!response.headersSent) response.shouldKeepAlive = false
    },
    giveUp: (arrival, error) => {
      const response = responses.get(arrival)
      if (!response) return false
      if (response.headersSent) arrival.outcome.status = response.statusCode
      // Whoever is still at work on it may write more, behind the end.
      response.on('error', () => {})
      sendProblem(response.req, response, error)
      return true
    },
  }
}

/** Whether its head says that the connection ends, whoever wrote that: only there node:http keeps it. */
function saysClose(response: ServerResponse): boolean {
  // The cast is sound: what is not there is undefined.
  return (response as { readonly _last?: boolean })._last === true
}

class LentConnection implements RequestEvents {
  readonly isLent = true
  readonly #request: IncomingMessage
  readonly #response: ServerResponse

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.#request = request
    this.#response = response
  }

  onBodyData(chunk: Buffer): void {
    this.#request.push(chunk)
  }

  hasPassedAll(): boolean {
    return false
  }

  onBodyEnd(): void {
    this.#request.complete = true
    this.#request.push(null)
  }

  onBodyBroken(error: MalformedMessage): void {
    this.#response.shouldKeepAlive = false
    sendProblem(this.#request, this.#response, malformedError(error))
  }

  onClientDrain(): void {
    this.#response.emit('drain')
  }

  onGone(): void {
    this.#request.destroy()
    this.#response.destroy()
  }
}

function requestOf({ connection, head }: Arrival): IncomingMessage {
  const { method, target, minorVersion, rawHeaders } = head
  const request = new IncomingMessage(connection.socket)
  // What no endpoint takes need not be told apart: each refuses it in the same way.
  request.method = knownMethods.has(method) ? method : otherMethod
  request.url = target
  request.httpVersionMajor = 1
  request.httpVersionMinor = minorVersion
  request.httpVersion = `1.${minorVersion}`
  request.rawHeaders = [...rawHeaders]
  request.headers = joinHeaders(rawHeaders)
  if (connection.bodyState === 'whole') {
    request.complete = true
    request.push(null)
  } else request._read = () => connection.wantBody()
  return request
}
