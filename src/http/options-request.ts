import { dateLine } from '../http1/date-line.ts'
import type { RequestHead } from '../http1/request-head.ts'
import { standardMethods } from '../routes/route.ts'
import { type Arrival, ownRouteName, parseHostName } from './arrival.ts'

const absoluteFormWithoutPath = /^https?:\/\/[^/?#]*$/i

/**
 * Whether a request asks about the gateway as a whole, not about a path: `OPTIONS *` (RFC 9110 9.3.7), or the absolute
 * form without a path, which means the same (RFC 9112 3.2.4).
 */
export function isServerWideOptions({ method, target }: Pick<RequestHead, 'method' | 'target'>): boolean {
  return method === 'OPTIONS' && (target === '*' || absoluteFormWithoutPath.test(target))
}

/**
 * Answers a request about the gateway as a whole. It says nothing that is not in this project's documents, so nobody is
 * authenticated. @throws GatehouseError `request-invalid` where Host is missing, repeated or not well-formed
 */
export function answerServerWideOptions(arrival: Arrival): void {
  parseHostName(arrival.fields)
  arrival.outcome.route = ownRouteName
  answerOptions(arrival, standardMethods)
}

/** Answers an OPTIONS request as its final recipient. @param methods those that its target takes */
export function answerOptions(
  { connection, outcome, requestId, corsHeaders }: Arrival,
  methods: Iterable<string>,
): void {
  outcome.status = 204
  const lines = `Allow: ${[...methods].toSorted().join(', ')}\r\nX-Request-Id: ${requestId}\r\n${corsHeaders?.lines ?? ''}`
  connection.respond(204, 'No Content', lines + dateLine(), 'none')
  connection.end()
}
