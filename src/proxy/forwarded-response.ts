import { withGatewayCors } from './cors-headers.ts'
import type { ForwardedRequest } from './forwarded-request.ts'
import { type ResponseHeadInput, responseHeaderLines } from './response-head.ts'

/** The header lines of the response to a forwarded request, for the client. */
export function forwardedResponseLines(
  { corsHeaders, client, requestId, strippedPrefix, clientPath, portalScopes }: ForwardedRequest,
  targetOrigin: string,
  { status, headers, mayHaveTrailers }: Pick<ResponseHeadInput, 'status' | 'headers' | 'mayHaveTrailers'>,
): string {
  return responseHeaderLines({
    status,
    headers: corsHeaders === undefined ? headers : withGatewayCors(status, headers, corsHeaders),
    mayHaveTrailers,
    targetOrigin,
    client,
    strippedPrefix,
    clientPath,
    portalScopes,
    requestId,
  })
}
