import { STATUS_CODES } from '#platform/http.ts'
import { MalformedMessage } from '../../exchange/malformed-message.ts'
import { parseDigits } from '../../h1/characters.ts'
import { checkField } from '../../h2/field-rules.ts'
import { MalformedStream } from '../../h2/framing/errors.ts'
import { InvalidResponse } from '../failure.ts'
import type { ResponseHead } from '../response-head.ts'

/**
 * The head of a response (RFC 9113 8.3.2).
 * @param fields name, value, name, value: `:status` first @throws InvalidResponse
 */
export function readHead(fields: readonly string[]): ResponseHead {
  const [name, text = ''] = fields
  const status = text.length === 3 ? parseDigits(text) : undefined
  // HTTP/2 has no 101 (RFC 9113 8.6).
  if (name !== ':status' || status === undefined || status < 100 || status === 101)
    throw new InvalidResponse('no :status, or none that HTTP/2 has')
  const headers = fields.slice(2)
  checkFields(headers)
  // HTTP/2 has no reason phrase (RFC 9113 8.3.2): a client of HTTP/1.1 gets the usual one.
  return { status, reason: STATUS_CODES[status] ?? '', headers }
}

/** @param fields name, value, name, value: none may be a pseudo-header field @throws InvalidResponse */
export function checkFields(fields: readonly string[]): void {
  try {
    for (let index = 0; index + 1 < fields.length; index += 2)
      checkField(fields[index] ?? '', fields[index + 1] ?? '')
  } catch (error) {
    if (!(error instanceof MalformedStream || error instanceof MalformedMessage)) throw error
    throw new InvalidResponse(`a malformed field: ${error.message}`)
  }
}
