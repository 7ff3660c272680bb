import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { type Code, GatehouseError } from '../errors.ts'
import { lineOf } from './line.ts'
import { sendProblem } from './problem.ts'

/** What was told of a request that could not be read. */
export interface Refusal {
  readonly requestId: string
  readonly error: GatehouseError
}

/** How Node's parser says what is wrong with a request that it gives up on. */
const codes: Readonly<Record<string, Code>> = {
  HPE_HEADER_OVERFLOW: 'headers-too-large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request-timeout',
}

/** How long a client may go on sending what can no longer be read, so that it sees the answer. */
const discardedMs = 2_000

/**
 * Answers where there is no request to answer, and closes the connection. What is owed to the requests
 * before it is sent first.
 * @param onRefused told of the answer, unless it is that of a request which is under way
 */
export function answerBrokenRequest(
  socket: Socket,
  error: Error,
  onRefused: (refusal: Refusal) => void,
): void {
  // Each further piece of what cannot be read is an error again.
  if (socket.writableEnded) return
  const { current } = lineOf(socket)
  if (!socket.writable || ('code' in error && error.code === 'ECONNRESET')) socket.destroy()
  else if (current === undefined) onRefused(refuse(socket, translate(error)))
  else if (current.req.complete) lineOf(socket).wait(() => onRefused(refuse(socket, translate(error))))
  // It is the body of the current one that cannot be read.
  else if (current.headersSent) socket.destroy()
  else {
    current.shouldKeepAlive = false
    sendProblem(current.req, current, translate(error))
  }
}

function refuse(socket: Socket, error: GatehouseError): Refusal {
  const { code, title, status, detail, errors } = error
  const requestId = randomUUID()
  const type = `urn:gatehouse:${code}`
  const body = JSON.stringify({ type, title, status, code, detail, requestId, errors })
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/problem+json',
    'Cache-Control: no-store',
    `X-Request-Id: ${requestId}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  const timer = setTimeout(() => socket.destroy(), discardedMs)
  socket.once('close', () => clearTimeout(timer))
  return { requestId, error }
}

function translate(cause: Error): GatehouseError {
  const code = 'code' in cause ? codes[String(cause.code)] : undefined
  if (code) return new GatehouseError(code, { cause })
  return new GatehouseError('request-invalid', { detail: 'This is no well-formed HTTP/1.1 request.', cause })
}
