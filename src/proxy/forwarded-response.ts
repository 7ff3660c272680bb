import type { ResponseHead } from '../upstream/response-head.ts'
import { withGatewayCors } from './cors-headers.ts'
import type { ForwardedRequest } from './forwarded-request.ts'
import { findKept } from './kept-lines.ts'
import { responseHeaderLines, withOwnLines } from './response-head.ts'

/**
 * The header lines of the response to a forwarded request, for the client. Most are kept, and nothing else is gathered
 * then.
 * @param mayHaveTrailers whether trailers can follow
 */
export function forwardedResponseLines(
  forwarded: ForwardedRequest,
  received: ResponseHead,
  targetOrigin: string,
  mayHaveTrailers: boolean,
): string {
  const { repeated, status } = received
  const kept =
    repeated === undefined || isChanged(forwarded)
      ? undefined
      : findKept(repeated, mayHaveTrailers, forwarded.route.caching, isAuthenticated(forwarded))
  return kept?.header === undefined
    ? writeLines(forwarded, received, targetOrigin, mayHaveTrailers)
    : withOwnLines(kept.header, status, forwarded.arrival.requestId)
}

/** Whether other fields go to the client than those that were received. */
function isChanged({ corsHeaders, costField }: ForwardedRequest): boolean {
  return corsHeaders !== undefined || costField !== undefined
}

function isAuthenticated({ accountId }: ForwardedRequest): boolean {
  return accountId !== undefined
}

function writeLines(
  forwarded: ForwardedRequest,
  { status, headers, repeated }: ResponseHead,
  targetOrigin: string,
  mayHaveTrailers: boolean,
): string {
  const { arrival, route, terms, corsHeaders, costField, strippedPrefix, destination } = forwarded
  const kept = costField?.remove(headers) ?? headers
  return responseHeaderLines({
    status,
    headers: corsHeaders === undefined ? kept : withGatewayCors(status, kept, corsHeaders),
    repeated: isChanged(forwarded) ? undefined : repeated,
    mayHaveTrailers,
    targetOrigin,
    client: arrival.client,
    strippedPrefix,
    clientPath: destination.target.path,
    portalScopes: terms.portalScopes,
    requestId: arrival.requestId,
    caching: route.caching,
    ownCookies: terms.ownCookies,
    isAuthenticated: isAuthenticated(forwarded),
  })
}
