import { randomUUID } from 'node:crypto'
import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { type Code, GatehouseError } from '../errors.ts'

/** How Node's parser says what is wrong with a request that it gives up on. */
const codes: Readonly<Record<string, Code>> = {
  HPE_HEADER_OVERFLOW: 'headers-too-large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request-timeout',
}

/** Answers where there is no request to answer, and closes the connection. */
export function answerBrokenRequest(socket: Socket, error: Error): void {
  // Node's own handler looks at the same member: an answer that has begun must not get another in its midst.
  const { _httpMessage: current } = socket as { readonly _httpMessage?: ServerResponse | null }
  if (!socket.writable || current?.headersSent || ('code' in error && error.code === 'ECONNRESET')) {
    socket.destroy()
    return
  }
  const { code, title, status, detail, allow } = translate(error)
  const requestId = randomUUID()
  const body = JSON.stringify({ type: `urn:gatehouse:${code}`, title, status, code, detail, requestId })
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/problem+json',
    'Cache-Control: no-store',
    `X-Request-Id: ${requestId}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(allow ? [`Allow: ${allow.join(', ')}`] : []),
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

function translate(error: Error): GatehouseError {
  if (error instanceof GatehouseError) return error
  const code = 'code' in error ? codes[String(error.code)] : undefined
  if (code) return new GatehouseError(code)
  return new GatehouseError('request-invalid', { detail: 'This is no well-formed HTTP/1.1 request.' })
}
