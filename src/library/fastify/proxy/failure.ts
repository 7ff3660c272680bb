import type { FastifyReply } from 'fastify'
import type { ErrorCode } from '#platform/errors/codes.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { refuse } from '../refuse.ts'
import { exchangeOf } from './exchange.ts'

/** Codes of undici and Node for which a response can still be given; all others are of the connection. */
const codes: Readonly<Record<string, ErrorCode>> = {
  UND_ERR_CONNECT_TIMEOUT: 'upstream-timeout',
  UND_ERR_HEADERS_TIMEOUT: 'upstream-timeout',
  UND_ERR_BODY_TIMEOUT: 'upstream-timeout',
  UND_ERR_SOCKET: 'upstream-invalid-response',
  UND_ERR_RESPONSE: 'upstream-invalid-response',
  UND_ERR_HEADERS_OVERFLOW: 'upstream-invalid-response',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'upstream-invalid-response',
  ECONNRESET: 'upstream-invalid-response',
  EPIPE: 'upstream-invalid-response',
}

/** Answers a request whose exchange with the backend failed before a response: neither its address nor the cause is told. */
export function answerFailure(reply: FastifyReply, error: unknown): void {
  const exchange = exchangeOf(reply.request.raw)
  if (!exchange || reply.sent || reply.raw.destroyed) return
  refuse(reply, exchange.arrival, toFailure(error))
}

function toFailure(error: unknown): GatehouseError {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  if (cause instanceof GatehouseError) return cause
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  const isUnreadable = cause instanceof Error && cause.name === 'HTTPParserError'
  return new GatehouseError(
    isUnreadable ? 'upstream-invalid-response' : (codes[code] ?? 'upstream-unreachable'),
    {
      cause,
    },
  )
}
