import { withGatewayCors } from './cors-headers.ts'
import type { ForwardedRequest } from './forwarded-request.ts'
import { type ResponseHeadInput, responseHeaderLines } from './response-head.ts'

/** The header lines of the response to a forwarded request, for the client. */
export function forwardedResponseLines(
  forwarded: ForwardedRequest,
  targetOrigin: string,
  received: Pick<ResponseHeadInput, 'status' | 'headers' | 'repeated' | 'mayHaveTrailers'>,
): string {
  const { status, headers, repeated, mayHaveTrailers } = received
  const { corsHeaders, client, requestId, strippedPrefix, clientPath, portalScopes } = forwarded
  return responseHeaderLines({
    status,
    headers: corsHeaders === undefined ? headers : withGatewayCors(status, headers, corsHeaders),
    repeated: corsHeaders === undefined ? repeated : undefined,
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
