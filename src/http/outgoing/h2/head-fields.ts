import { STATUS_CODES } from '#platform/http.ts'
import { addLines, checkField } from '../../h2/framing/fields.ts'
import { MalformedStream } from '../../h2/framing/protocol.ts'
import type { FieldWriter } from '../../h2/framing/streams.ts'
import { fieldNameOf } from '../../h2/hpack/encoder.ts'
import { parseDigits } from '../../message/characters.ts'
import { MalformedMessage } from '../../request-head.ts'
import { InvalidResponse } from '../failure.ts'
import type { ResponseHead } from '../response-head.ts'

/** Fields that an HTTP/2 request does not have (RFC 9113 8.2.2), or has in another form. */
const leftOut = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'te', 'host'])

/**
 * Converts a request head as HTTP/1.1 writes it, so that one piece of code decides what a backend gets.
 * @param head request line, Host, other lines and the empty line, in Latin-1
 */
export function requestFields(head: string, scheme: 'http' | 'https'): FieldWriter {
  const lineEnd = head.indexOf('\r\n')
  const methodEnd = head.indexOf(' ')
  return (encoder) => {
    encoder.add(':method', head.slice(0, methodEnd))
    encoder.add(':path', head.slice(methodEnd + 1, lineEnd - ' HTTP/1.1'.length))
    encoder.add(':scheme', scheme)
    encoder.add(':authority', hostOf(head, lineEnd + 2))
    addLines(encoder, head, { from: lineEnd + 2, isLeftOut })
    // The gateway reads trailer fields, whatever the client does; gRPC servers require this field.
    encoder.add('te', 'trailers')
  }
}

/** @param start of the first field line, which is nearly always the Host */
function hostOf(head: string, start: number): string {
  for (let at = start; at < head.length; at = head.indexOf('\r\n', at) + 2) {
    const colon = head.indexOf(':', at)
    if (colon === -1) return ''
    if (colon - at === 4 && fieldNameOf(head.slice(at, colon)).name === 'host')
      return head.slice(colon + 2, head.indexOf('\r\n', colon))
  }
  return ''
}

function isLeftOut(name: string): boolean {
  return leftOut.has(fieldNameOf(name).name)
}

/**
 * The head of a response (RFC 9113 8.3.2).
 * @param fields name, value, name, value: `:status` first @throws InvalidResponse
 */
export function readHead(fields: readonly string[]): ResponseHead {
  const [name, text = ''] = fields
  const status = text.length === 3 ? parseDigits(text) : undefined
  // HTTP/2 has no 101 (RFC 9113 8.6).
  if (name !== ':status' || status === undefined || status < 100 || status === 101)
    throw new InvalidResponse(':status is missing, or not one of HTTP/2')
  const headers = fields.slice(2)
  checkFields(headers)
  // HTTP/2 has no reason phrase (RFC 9113 8.3.2): an HTTP/1.1 client gets the usual one.
  return { status, reason: STATUS_CODES[status] ?? '', headers }
}

/**
 * @param fields name, value, name, value, without pseudo-header fields
 * @throws InvalidResponse
 */
export function checkFields(fields: readonly string[]): void {
  try {
    for (let index = 0; index + 1 < fields.length; index += 2)
      checkField(fields[index] ?? '', fields[index + 1] ?? '')
  } catch (error) {
    if (!(error instanceof MalformedStream || error instanceof MalformedMessage)) throw error
    throw new InvalidResponse(`a malformed field: ${error.message}`)
  }
}
