import type { ClientExchange } from '#http/exchange/client-exchange.ts'
import type { Unreadable } from '#http/exchange/request-head.ts'
import { BodyTooSlow, HeadTooLarge, type MalformedMessage } from '#http/exchange/request-head.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { createRequestId } from '../server/request-id.ts'
import { answerUnreadable, formatRawProblem } from './problem.ts'

/** The response to a request that could not be parsed. */
export interface UnreadableRefusal {
  readonly requestId: string
  readonly error: GatehouseError
}

/** Answers a request that could not be parsed, and closes the connection. */
export function refuseUnreadable(connection: ClientExchange, what: Unreadable): UnreadableRefusal {
  const refusal = { requestId: createRequestId(), error: unreadableError(what) }
  answerUnreadable(connection, refusal.error, refusal.requestId)
  return refusal
}

/** The response to plain HTTP on a TLS port. */
export function refusePlainHttp(): UnreadableRefusal & { readonly answer: string } {
  const requestId = createRequestId()
  const detail = 'This port speaks HTTPS only: use https:// instead of http://.'
  const error = new GatehouseError('request-invalid', {
    detail,
    cause: new Error('plain HTTP on a TLS port'),
  })
  return { requestId, error, answer: formatRawProblem(error, requestId) }
}

function unreadableError(what: Unreadable): GatehouseError {
  if (what === 'timeout') return new GatehouseError('request-timeout')
  return what instanceof HeadTooLarge ? new GatehouseError('headers-too-large') : malformedError(what)
}

/** The error for a body that could not be read to its end. */
export function brokenBodyError(cause: MalformedMessage | BodyTooSlow): GatehouseError {
  return cause instanceof BodyTooSlow
    ? new GatehouseError('request-timeout', { cause })
    : malformedError(cause)
}

/** The error for a message that is not a well-formed request. */
export function malformedError(cause: MalformedMessage): GatehouseError {
  return new GatehouseError('request-invalid', {
    detail: 'This is not a well-formed HTTP request.',
    errors: [{ field: cause.field, message: cause.message }],
    cause,
  })
}
