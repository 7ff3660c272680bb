import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { FastifyReply } from 'fastify'
import { type Arrival, type ArrivalReader, createArrival } from '#gateway/arrival/arrival.ts'
import { attachArrival, attachedArrivalOf, type EndpointExchange } from '#gateway/arrival/endpoint-arrival.ts'
import { createProblem, malformedError, toGatehouseError } from '#gateway/refusals/send-problem.ts'
import { type ClientCertificate, clientCertificateOf } from '#http/client-certificate.ts'
import { MalformedMessage, type RequestHead } from '#http/request-head.ts'
import { readRequestFraming } from '#http/server/request-framing.ts'
import { discardedBytesMax } from '#http/server/slow-clients.ts'
import { unmappedAddress } from '#platform/addresses.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'

/** A request of an app, as the decisions of the gateway know it. */
export type AppArrival = Arrival<AppExchange>

/** Reads a request that Node's HTTP server has parsed; returns the same arrival each time. */
export function readAppArrival(request: IncomingMessage, reader: ArrivalReader): AppArrival {
  const known = appArrivalOf(request)
  if (known) return known
  const readHead = readHeadOf(request)
  const arrival = createArrival(new AppExchange(request, readHead), readHead.head, reader)
  attachArrival(request, arrival)
  return arrival
}

/** The arrival of a request; undefined where it has not been read. */
export function appArrivalOf(request: IncomingMessage): AppArrival | undefined {
  // The cast is sound: in an app only readAppArrival attaches arrivals.
  return attachedArrivalOf(request) as AppArrival | undefined
}

/**
 * Connections on which an ambiguous request came, and the reason. Node goes on reading them in its own way, but nothing
 * that it takes for a further request is served.
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

/** The head of a request, and whether it is ambiguous. */
interface ReadHead {
  readonly head: RequestHead
  readonly malformed: GatehouseError | undefined
}

/** The exchange of a request that Node's HTTP server has read. */
class AppExchange implements EndpointExchange {
  readonly #request: IncomingMessage
  readonly #head: RequestHead
  /** Why the request is refused in any case; undefined = it is not. */
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

  get clientCertificate(): ClientCertificate | undefined {
    return clientCertificateOf(this.#request.socket)
  }

  get bodyState(): EndpointExchange['bodyState'] {
    if (this.#request.complete) return 'complete'
    return this.#request.readableLength > 0 ? 'buffered' : 'pending'
  }

  /** False if much of a body would first have to be read and discarded. */
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
 * Answers with a problem. Not by throwing, as the app's error handler could change it, or drop the headers that clients
 * need to authenticate.
 */
export function refuse(reply: FastifyReply, arrival: AppArrival, error: GatehouseError): void {
  const { status, headers, body } = createProblem(arrival, error)
  if (!arrival.exchange.canPersist()) reply.header('Connection', 'close')
  reply.code(status).headers(headers).send(Buffer.from(body))
  // Node may also refuse a malformed request once it continues to read, which would send the client a second response.
  if (arrival.exchange.malformed && reply.raw.writableEnded) reply.raw.socket?.destroySoon()
}

/**
 * Continues with a request once it is decided; synchronously, if the decision is. A refusal is answered, as is an error
 * while deciding or continuing.
 */
export function whenDecided<Decided>(
  { reply, arrival }: { readonly reply: FastifyReply; readonly arrival: AppArrival },
  decide: () => Decided | GatehouseError | Promise<Decided | GatehouseError>,
  goOn: (decided: Decided) => void,
): void {
  function settle(decided: Decided | GatehouseError): void {
    if (decided instanceof GatehouseError) refuse(reply, arrival, decided)
    else goOn(decided)
  }

  function fail(error: unknown): void {
    refuse(reply, arrival, toGatehouseError(error))
  }

  try {
    const decided = decide()
    if (decided instanceof Promise) decided.then(settle).catch(fail)
    else settle(decided)
  } catch (error) {
    fail(error)
  }
}
