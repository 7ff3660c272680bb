import { createHash } from 'node:crypto'
import { InvalidResponse } from '#http/client/failure.ts'
import type { ResponseHead } from '#http/client/response-head.ts'
import { isExtendedConnect } from '#http/exchange/client-exchange.ts'
import { onlyValueOf } from '#http/h1/raw-headers.ts'
import type { ForwardedArrival } from './forwarded-request.ts'

/**
 * Why a backend's response to a WebSocket handshake is not forwarded; undefined = it is. A client of HTTP/1.1 checks it
 * itself. One of HTTP/2 would take any 2xx for an open WebSocket, and cannot check the answer to a key that it has not
 * sent (RFC 8441 5): the gateway does (RFC 6455 4.1).
 */
export function handshakeFailure(
  { connection, head }: Pick<ForwardedArrival, 'connection' | 'head'>,
  { status, headers }: ResponseHead,
): InvalidResponse | undefined {
  if (status >= 300 || !isExtendedConnect(connection, head)) return undefined
  if (status !== 101) return new InvalidResponse(`a ${status} instead of a 101 that opens the WebSocket`)
  const key = onlyValueOf(head.rawHeaders, 'sec-websocket-key')
  return onlyValueOf(headers, 'sec-websocket-accept') === acceptOf(key ?? '')
    ? undefined
    : new InvalidResponse('a 101 without the Sec-WebSocket-Accept of its key')
}

function acceptOf(key: string): string {
  return createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
}
