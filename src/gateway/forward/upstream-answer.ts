import { createHash } from 'node:crypto'
import { isExtendedConnect } from '#http/client-exchange.ts'
import {
  type FailureReason,
  InvalidResponse,
  type MissingShare,
  NoConnection,
  type UpstreamFailure,
} from '#http/outgoing/failure.ts'
import type { ResponseHead } from '#http/outgoing/response-head.ts'
import { onlyValueOf, valuesOf } from '#http/request-head.ts'
import type { ErrorCode } from '#platform/errors/codes.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { Arrival } from '../arrival/arrival.ts'

/** The error that the client gets for a failed request, without the address of the target or the cause. */
export function failureError(failure: UpstreamFailure): GatehouseError {
  const detail = failure instanceof NoConnection ? shareDetails[failure.share] : undefined
  return new GatehouseError(codes[failure.reason], {
    // Of our own errors the log gets the error itself.
    cause: failure.reason === 'internal' ? failure.cause : failure,
    ...(detail !== undefined && { detail }),
  })
}

const codes = {
  'connect-failed': 'upstream-unreachable',
  'connect-timeout': 'upstream-timeout',
  'no-resources': 'upstream-unavailable',
  'no-target': 'upstream-unavailable',
  'no-connection': 'upstream-unavailable',
  'response-timeout': 'upstream-timeout',
  'idle-timeout': 'upstream-timeout',
  'response-stalled': 'request-timeout',
  'body-stalled': 'request-timeout',
  'not-processed': 'upstream-unreachable',
  'closed-early': 'upstream-invalid-response',
  'invalid-response': 'upstream-invalid-response',
  internal: 'internal',
} as const satisfies Record<FailureReason, ErrorCode>

/** The detail of a 503 if no connection was free; undefined = that of the error code. */
const shareDetails: Readonly<Record<MissingShare, string | undefined>> = {
  pool: undefined,
  network: 'Your network has reached its limit of requests in progress at the service behind this path.',
  account: 'Your account has reached its limit of requests in progress at the service behind this path.',
  session: 'Your connection has reached its limit of requests in progress at the service behind this path.',
  bodies: 'Too many requests to the service behind this path are still sending their bodies.',
}

/**
 * Why a backend's response to a WebSocket handshake is not forwarded; undefined = it is. An HTTP/1.1 client checks the
 * response itself. An HTTP/2 client would take any 2xx for an open WebSocket, and cannot check the answer to a key that
 * it did not send (RFC 8441 5), so the gateway does (RFC 6455 4.1).
 */
export function handshakeFailure(
  { exchange, head }: Pick<Arrival, 'exchange' | 'head'>,
  { status, headers }: ResponseHead,
): InvalidResponse | undefined {
  if (status >= 300 || !isExtendedConnect(exchange, head)) return undefined
  if (status !== 101) return new InvalidResponse(`a ${status} instead of a 101 that opens the WebSocket`)
  const key = onlyValueOf(head.rawHeaders, 'sec-websocket-key')
  return onlyValueOf(headers, 'sec-websocket-accept') === acceptOf(key ?? '')
    ? undefined
    : new InvalidResponse('a 101 without the Sec-WebSocket-Accept of its key')
}

function acceptOf(key: string): string {
  return createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
}

/**
 * Whether a response is a stream of server-sent events (https://html.spec.whatwg.org/#server-sent-events), which may go
 * on for ever.
 * @param headers name, value, name, value, as they arrived
 */
export function isEventStream(headers: readonly string[]): boolean {
  return /^\s*text\/event-stream\s*(?:;|$)/i.test(valuesOf(headers, 'content-type')[0] ?? '')
}

/**
 * Whether a content type begins as that of gRPC does. Lenient servers take a request for a call by no more than this;
 * all of them say it in their responses.
 * @param headers name, value, name, value, as they arrived
 */
export function isOfGrpc(headers: readonly string[]): boolean {
  return valuesOf(headers, 'content-type').some((type) => /^application\/grpc/i.test(type))
}

/** A route that allows an idle time at least this long is meant for long-lived responses. */
const lastingIdleMs = 120_000

/**
 * Whether a response of unknown length may be long-lived, such as a stream of events. These wait for events rather than
 * for the backend, so they do not show how busy it is and are counted separately.
 */
export function mayLast(isOfEvents: boolean, idleTimeoutMs: number): boolean {
  return isOfEvents || idleTimeoutMs >= lastingIdleMs
}
