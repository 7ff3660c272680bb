import type { RequestHead } from '#http/exchange/request-head.ts'
import { dateLine } from '#http/h1/response-writer.ts'
import { hasNameLengths, withoutPort } from '../routes/host-name.ts'
import type { Arrival } from '../server/arrival.ts'
import { recordStatus } from './outcome.ts'

const absoluteFormWithoutPath = /^https?:\/\/([^/?#]*)$/i

/**
 * Whether a request asks about the gateway as a whole, not about a path: `OPTIONS *` (RFC 9110 9.3.7), or the absolute
 * form without a path, which means the same (RFC 9112 3.2.4).
 */
export function isServerWideOptions({ method, target }: Pick<RequestHead, 'method' | 'target'>): boolean {
  if (method !== 'OPTIONS') return false
  const authority = absoluteFormWithoutPath.exec(target)?.[1]
  return target === '*' || (authority !== undefined && hasNameLengths(withoutPort(authority)))
}

/**
 * Answers an OPTIONS request as its final recipient. About the gateway as a whole no authentication is needed: the
 * response reveals nothing that is not in the public docs.
 * @param methods those that its target allows
 */
export function answerOptions({ connection, outcome, requestId }: Arrival, methods: Iterable<string>): void {
  recordStatus(outcome, 204)
  const lines = `Allow: ${[...methods].toSorted().join(', ')}\r\nX-Request-Id: ${requestId}\r\n${outcome.corsHeaders?.lines ?? ''}`
  connection.respond(204, 'No Content', lines + dateLine(), 'none')
  connection.end()
}
