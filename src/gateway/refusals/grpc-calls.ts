import { dateLine } from '#http/h1/response-writer.ts'
import { type RequestHead, valuesOf } from '#http/request-head.ts'
import type { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { Arrival } from '../arrival/arrival.ts'
import { recordStatus } from '../arrival/outcome.ts'

/** gRPC's status codes (https://grpc.github.io/grpc/core/md_doc_statuscodes.html) for those of HTTP. */
const statusCodes: Readonly<Record<number, number>> = {
  400: 3, // INVALID_ARGUMENT
  401: 16, // UNAUTHENTICATED
  403: 7, // PERMISSION_DENIED
  404: 12, // UNIMPLEMENTED
  405: 12,
  408: 4, // DEADLINE_EXCEEDED
  413: 8, // RESOURCE_EXHAUSTED
  429: 8,
  431: 8,
  500: 13, // INTERNAL
  502: 14, // UNAVAILABLE
  503: 14,
  504: 4,
}
const unknown = 2
const unauthenticated = 16

/**
 * Whether a request is a call of gRPC: a POST whose client reads only `grpc-status`. Clients of gRPC-Web and Connect,
 * which browsers speak, read the HTTP status.
 */
export function isGrpcCall({ method, rawHeaders }: Pick<RequestHead, 'method' | 'rawHeaders'>): boolean {
  return method === 'POST' && isGrpcType.test(valuesOf(rawHeaders, 'content-type')[0] ?? '')
}

const isGrpcType = /^application\/grpc(?:$|[+; ])/

/** The lines that tell an error to a client of gRPC: `grpc-message` is the code, which needs no encoding. */
export function grpcStatusLines({ status, code }: GatehouseError): string {
  return `grpc-status: ${statusCodes[status] ?? unknown}\r\ngrpc-message: ${code}\r\n`
}

/**
 * Ends a call. One of which nothing was answered yet gets a response without a body, whose head is its trailers too
 * (Trailers-Only of gRPC over HTTP/2). A response that cannot have trailers is aborted.
 * @param statusLines field lines
 */
export function endGrpcCall({ connection, requestId, outcome }: Arrival, statusLines: string): void {
  if (connection.isHeadSent) {
    if (connection.framing === 'chunked') connection.end(statusLines)
    else connection.abort()
    return
  }
  const lines = `content-type: application/grpc\r\n${statusLines}X-Request-Id: ${requestId}\r\n`
  connection.respond(200, 'OK', `${lines}${outcome.corsHeaders?.lines ?? ''}${dateLine()}`, 'none')
  connection.end()
}

/** The lines that end a call which was open when its credential was revoked. */
const revokedCallLines = `grpc-status: ${unauthenticated}\r\ngrpc-message: revoked\r\n`

/** Long-lived gRPC calls, which end when their credential does, like WebSockets. */
export interface GrpcCalls {
  /** A call was forwarded. Many backends begin their response only when they have something to say. */
  onForwarded(): void
}

interface GrpcCallsOptions {
  /** See OpenCallers. */
  followStream(arrival: Arrival, end: () => void): () => void
  /** All requests that have no complete response yet. */
  openArrivals(): Iterable<Arrival>
}

/** Most calls end sooner. A credential that was revoked before is noticed when the following begins. */
const tickMs = 100

/** Searches the open requests at intervals: a list of all calls would keep each in memory until the next search. */
export function createGrpcCalls({ followStream, openArrivals }: GrpcCallsOptions): GrpcCalls {
  /** The calls that are followed, and the function that stops following each. */
  const followed = new Map<Arrival, () => void>()
  let timer: NodeJS.Timeout | undefined
  let hasForwarded = false

  function tick(): void {
    for (const [arrival, stop] of followed) {
      if (isOpen(arrival)) continue
      followed.delete(arrival)
      stop()
    }
    for (const arrival of openArrivals())
      if (isForwardedCall(arrival) && !followed.has(arrival))
        followed.set(
          arrival,
          followStream(arrival, () => end(arrival)),
        )
    if (followed.size > 0 || hasForwarded) {
      hasForwarded = false
      return
    }
    clearInterval(timer)
    timer = undefined
  }

  return {
    onForwarded: () => {
      hasForwarded = true
      timer ??= setInterval(tick, tickMs).unref()
    },
  }
}

function isForwardedCall({ connection, head, outcome }: Arrival): boolean {
  return connection.httpVersion === '2' && outcome.sentAt !== undefined && isGrpcCall(head)
}

function isOpen({ connection, head }: Arrival): boolean {
  return connection.head === head
}

function end(arrival: Arrival): void {
  const { connection, outcome } = arrival
  if (!isOpen(arrival)) return
  // First, as the response of the backend must not continue after its trailers.
  connection.detach()
  if (!connection.isHeadSent) recordStatus(outcome, 401)
  endGrpcCall(arrival, revokedCallLines)
}
