import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { FastifyReply } from 'fastify'
import { createProblem, malformedError } from '#gateway/refusals/problem.ts'
import {
  type Arrival,
  type ArrivalReader,
  attachArrival,
  attachedArrivalOf,
  createArrival,
  type EndpointConnection,
} from '#gateway/server/arrival.ts'
import { MalformedMessage, type RequestHead } from '#http/exchange/request-head.ts'
import { readRequestFraming } from '#http/h1/request-framing.ts'
import { discardedBytesMax } from '#http/h1/slow-clients.ts'
import { unmappedAddress } from '#platform/addresses.ts'
import type { GatehouseError } from '#platform/errors/gatehouse-error.ts'

/** A request of an app, as the decisions of the gateway know it. */
export type AppArrival = Arrival<AppConnection>

/** Reads a request that Node's HTTP server has parsed; the same arrival each time. */
export function readAppArrival(request: IncomingMessage, reader: ArrivalReader): AppArrival {
  const known = appArrivalOf(request)
  if (known) return known
  const readHead = readHeadOf(request)
  const arrival = createArrival(new AppConnection(request, readHead), readHead.head, reader)
  attachArrival(request, arrival)
  return arrival
}

/** The arrival of a request; undefined where it has not been read. */
export function appArrivalOf(request: IncomingMessage): AppArrival | undefined {
  // The cast is sound: in an app only readAppArrival attaches arrivals.
  return attachedArrivalOf(request) as AppArrival | undefined
}

/**
 * Connections on which a request came that could be read in two ways, and why. Node reads on behind it by its own
 * reading, and hands over what it takes for the next request: nothing of that is served.
 */
const refusedConnections = new WeakMap<Socket, GatehouseError>()

function readHeadOf(request: IncomingMessage): ReadHead {
  const { method = '', url = '', rawHeaders, httpVersionMinor, socket } = request
  const read = { method, target: url, minorVersion: httpVersionMinor, rawHeaders }
  const earlier = refusedConnections.get(socket)
  if (earlier) return { head: { ...read, ...unknownFraming }, malformed: earlier }
  try {
    const framing = readRequestFraming(rawHeaders, httpVersionMinor)
    return { head: { ...read, ...framing }, malformed: undefined }
  } catch (error) {
    if (!(error instanceof MalformedMessage)) throw error
    const malformed = malformedError(error)
    refusedConnections.set(socket, malformed)
    return { head: { ...read, ...unknownFraming }, malformed }
  }
}

/** Nothing more is read from such a connection. */
const unknownFraming = {
  body: { kind: 'chunked' },
  isPersistent: false,
  expectsContinue: false,
  upgrade: undefined,
} as const

/** The head of a request, and whether it could be read in two ways. */
interface ReadHead {
  readonly head: RequestHead
  readonly malformed: GatehouseError | undefined
}

/** The connection of a request that Node's HTTP server has read. */
class AppConnection implements EndpointConnection {
  readonly #request: IncomingMessage
  readonly #head: RequestHead
  /** Why the request is refused whatever it asks for; undefined = it is not. */
  readonly malformed: GatehouseError | undefined

  constructor(request: IncomingMessage, { head, malformed }: ReadHead) {
    this.#request = request
    this.#head = head
    this.malformed = malformed
  }

  get peerAddress(): string {
    return unmappedAddress(this.#request.socket.remoteAddress ?? '')
  }

  get protocol(): 'http' | 'https' {
    return this.#request.socket instanceof TLSSocket ? 'https' : 'http'
  }

  get bodyState(): EndpointConnection['bodyState'] {
    if (this.#request.complete) return 'complete'
    return this.#request.readableLength > 0 ? 'buffered' : 'pending'
  }

  /** Not where much of a body would have to be read and thrown away first. */
  canPersist(): boolean {
    const { body, isPersistent, expectsContinue } = this.#head
    if (!isPersistent || this.#request.complete) return isPersistent
    return !expectsContinue && body.kind !== 'chunked' && lengthOf(body) <= discardedBytesMax
  }

  abort(): void {
    this.#request.socket.destroy()
  }
}

function lengthOf(body: RequestHead['body']): number {
  return body.kind === 'counted' ? body.length : 0
}

/**
 * Answers with a problem. Directly, not by an error: the error handler of an app could turn it into something else, or
 * drop the headers that clients need to authenticate.
 */
export function refuse(reply: FastifyReply, arrival: AppArrival, error: GatehouseError): void {
  const { status, headers, body } = createProblem(arrival, error)
  if (!arrival.connection.canPersist()) reply.header('Connection', 'close')
  reply.code(status).headers(headers).send(Buffer.from(body))
  // Node may refuse a malformed request too, once it has read on: the client would get a second response.
  if (arrival.connection.malformed && reply.raw.writableEnded) reply.raw.socket?.destroySoon()
}
