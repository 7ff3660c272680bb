import { dateLine } from '#platform/http.ts'
import type { Arrival } from '../arrival/arrival.ts'
import { recordStatus } from '../arrival/outcome.ts'

/**
 * Answers an OPTIONS request as its final recipient. No authentication is needed for the gateway as a whole, as the
 * response says nothing that the public docs do not.
 * @param methods those that its target allows
 */
export function answerOptions(arrival: Arrival, methods: Iterable<string>): void {
  const allow = `Allow: ${[...methods].toSorted().join(', ')}\r\n`
  answerNoContent(arrival, allow + (arrival.outcome.corsHeaders?.lines ?? ''))
}

/** @param lines field lines */
export function answerNoContent({ exchange, outcome, requestId }: Arrival, lines: string): void {
  recordStatus(outcome, 204)
  exchange.respond(204, 'No Content', `${lines}X-Request-Id: ${requestId}\r\n${dateLine()}`, 'none')
  exchange.end()
}
