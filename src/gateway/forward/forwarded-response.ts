import type { ResponseHead } from '#http/client/response-head.ts'
import { withGatewayCors } from './cors-headers.ts'
import type { ForwardedRequest } from './forwarded-request.ts'
import { ordinaryLines } from './ordinary-response.ts'
import { responseHeaderLines, withOwnLines } from './response-head.ts'

/**
 * The header lines of the response to a forwarded request, for the client: mostly as they arrived, in a few slices.
 * @param mayHaveTrailers whether trailers can follow
 */
export function forwardedResponseLines(
  forwarded: ForwardedRequest,
  received: ResponseHead,
  targetOrigin: string,
  mayHaveTrailers: boolean,
): string {
  const { arrival, route, terms, corsHeaders, costField, strippedPrefix, destination } = forwarded
  const { status, lines } = received
  const isAuthenticated = forwarded.accountId !== undefined
  if (lines !== undefined && status >= 200 && corsHeaders === undefined && costField === undefined) {
    const { caching } = route
    const ordinary = ordinaryLines(lines, { status, mayHaveTrailers, caching, isAuthenticated, terms })
    if (ordinary) return withOwnLines(ordinary.text, ordinary.hasDate, status, arrival.requestId)
  }
  const headers = costField?.remove(received.headers) ?? received.headers
  return responseHeaderLines({
    status,
    headers: corsHeaders === undefined ? headers : withGatewayCors(status, headers, corsHeaders),
    mayHaveTrailers,
    targetOrigin,
    client: arrival.client,
    strippedPrefix,
    clientPath: destination.target.path,
    portalScopes: terms.portalScopes,
    requestId: arrival.requestId,
    caching: route.caching,
    ownCookies: terms.ownCookies,
    isAuthenticated,
  })
}
