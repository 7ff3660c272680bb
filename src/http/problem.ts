import type { IncomingMessage, ServerResponse } from 'node:http'
import { TLSSocket } from 'node:tls'
import { type ExceededRate, GatehouseError } from '../errors.ts'
import { arrivalOf } from './arrival.ts'
import { challenges } from './challenge.ts'
import { discardRest } from './early-answer.ts'

/** When to come back after a 503, in seconds: the breaks it stands for are short. */
const retryAfterS = 1

/** Codes besides every 401 that say how to authenticate (RFC 6750 3). */
const challenged = new Set(['credentials-ambiguous', 'role-forbidden'])

/** An answer that says what went wrong, as problem+json (RFC 9457). */
export interface Problem {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly body: string
}

/** Makes the answer to a failed request, and notes the failure for its log line. */
export function createProblem(request: IncomingMessage, error: GatehouseError): Problem {
  const { requestId, outcome } = arrivalOf(request)
  const { code, title, status, detail, errors, allow, rate, cause } = error
  outcome.code = code
  outcome.reason ??= cause instanceof Error ? cause.message : undefined
  const isChallenge = status === 401 || challenged.has(code)
  return {
    status,
    headers: {
      'Content-Type': 'application/problem+json',
      'Cache-Control': 'no-store',
      'X-Request-Id': requestId,
      ...(isChallenge && { 'WWW-Authenticate': challenges(code, outcome.access) }),
      ...(allow && { Allow: allow.join(', ') }),
      ...(rate && rateHeaders(rate)),
      ...(status === 503 && { 'Retry-After': String(retryAfterS) }),
    },
    body: JSON.stringify({ type: `urn:gatehouse:${code}`, title, status, code, detail, requestId, errors }),
  }
}

/** In whole seconds, rounded up: whoever waits as long as they say is early for nothing. */
function rateHeaders({ limit, remaining, retryMs, resetMs }: ExceededRate): Readonly<Record<string, string>> {
  return {
    'Retry-After': String(Math.max(1, Math.ceil(retryMs / 1_000))),
    'RateLimit-Limit': String(limit),
    'RateLimit-Remaining': String(remaining),
    'RateLimit-Reset': String(Math.max(1, Math.ceil(resetMs / 1_000))),
  }
}

/** Answers with a problem, unless an answer is under way: that one is broken off. */
export function sendProblem(request: IncomingMessage, response: ServerResponse, error: GatehouseError): void {
  const { status, headers, body } = createProblem(request, error)
  if (response.headersSent) {
    breakOff(request, response)
    return
  }
  prepareEarlyAnswer(request, response)
  response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) })
  response.end(body)
}

/** Ends an answer so that nobody can take it for a whole one. */
function breakOff({ httpVersionMinor, socket }: IncomingMessage, response: ServerResponse): void {
  // To a client of HTTP/1.0 the end of the connection is the end of the body: only a reset tells it.
  if (httpVersionMinor === 0 && !(socket instanceof TLSSocket)) socket.resetAndDestroy()
  else response.destroy()
}

/** To be called before any answer that does not depend on the body. */
export function prepareEarlyAnswer(request: IncomingMessage, response: ServerResponse): void {
  // A client that waits for 100 will not send the body now, or cannot be told from one that does.
  if (request.headers.expect !== undefined) response.shouldKeepAlive = false
  discardRest(request)
}

/** Any error as one that may be told: what is not ours is `internal`, without a word of it. */
export function toGatehouseError(error: unknown): GatehouseError {
  return error instanceof GatehouseError ? error : new GatehouseError('internal', { cause: error })
}
