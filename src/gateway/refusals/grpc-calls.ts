import type { ClientExchange } from '#http/client-exchange.ts'
import { type RequestHead, valuesOf } from '#http/request-head.ts'
import type { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { dateLine } from '#platform/http.ts'
import type { Arrival } from '../arrival/arrival.ts'

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

/**
 * Whether a request is a call of gRPC: a POST whose client reads only `grpc-status`. Clients of gRPC-Web and Connect,
 * which browsers speak, read the HTTP status.
 */
export function isGrpcCall({ method, rawHeaders }: Pick<RequestHead, 'method' | 'rawHeaders'>): boolean {
  return method === 'POST' && isGrpcType.test(valuesOf(rawHeaders, 'content-type')[0] ?? '')
}

const isGrpcType = /^application\/grpc(?:$|[+; ])/i

/** The lines that tell an error to a client of gRPC: `grpc-message` is the code, which needs no encoding. */
export function grpcStatusLines({ status, code }: GatehouseError): string {
  return `grpc-status: ${statusCodes[status] ?? unknown}\r\ngrpc-message: ${code}\r\n`
}

/**
 * Ends a call. If nothing has been answered yet, that is its response. A response that cannot have trailers is aborted.
 * @param statusLines field lines
 */
export function endGrpcCall({ exchange, requestId, outcome }: Arrival, statusLines: string): void {
  if (exchange.isHeadSent) {
    if (exchange.framing === 'chunked') exchange.end('', statusLines)
    else exchange.abort()
    return
  }
  answerTrailersOnly(exchange, requestId, statusLines + (outcome.corsHeaders?.lines ?? ''))
}

/**
 * Answers without a body: the head also serves as trailers (Trailers-Only of gRPC over HTTP/2).
 * @param lines field lines
 */
export function answerTrailersOnly(exchange: ClientExchange, requestId: string, lines: string): void {
  const all = `content-type: application/grpc\r\n${lines}X-Request-Id: ${requestId}\r\n${dateLine()}`
  exchange.respond(200, 'OK', all, 'none')
  exchange.end()
}
