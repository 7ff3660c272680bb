import type { ResponseHead } from '../upstream/response-head.ts'
import { withGatewayCors } from './cors-headers.ts'
import type { ForwardedRequest } from './forwarded-request.ts'
import { type ResponseHeadInput, responseHeaderLines } from './response-head.ts'

/** The header lines of the response to a forwarded request, for the client. */
export function forwardedResponseLines(
  forwarded: ForwardedRequest,
  { status, headers, repeated }: ResponseHead,
  { targetOrigin, mayHaveTrailers }: Pick<ResponseHeadInput, 'targetOrigin' | 'mayHaveTrailers'>,
): string {
  const { corsHeaders, costField, client, requestId, strippedPrefix, clientPath, portalScopes } = forwarded
  const kept = costField?.remove(headers) ?? headers
  return responseHeaderLines({
    status,
    headers: corsHeaders === undefined ? kept : withGatewayCors(status, kept, corsHeaders),
    repeated: corsHeaders === undefined && costField === undefined ? repeated : undefined,
    mayHaveTrailers,
    targetOrigin,
    client,
    strippedPrefix,
    clientPath,
    portalScopes,
    requestId,
    caching: forwarded.caching,
    ownCookies: forwarded.ownCookies,
    isAuthenticated: forwarded.accountId !== undefined,
  })
}
