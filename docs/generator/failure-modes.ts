import { errorDefinitions } from '#platform/errors/codes.ts'

/** Every error code with its cause and what to check, generated from the table of codes. */
export function failureModesPage(): string {
  const entries = Object.entries(errorDefinitions).toSorted(([, a], [, b]) => a.status - b.status)
  return [
    '# Failure modes',
    '',
    'The body of every refusal and failure is `application/problem+json` (RFC 9457) with `type`',
    '(`urn:gatehouse:CODE`), `title`, `status`, `code`, `detail`, `requestId`, and `errors` for wrong fields. The',
    'log line with the same `requestId` has the route, the account and, for upstream failures, the `reason`.',
    '',
    'People in browsers, whose GET or HEAD has `text/html` in `Accept`, get a page with the same title, detail and code',
    'instead: for `route-not-found` and `route-denied`, in the portal, and on routes with `browser.signIn` for whatever',
    'keeps the request from being forwarded. Anything else, such as a 401 on a route without `browser.signIn`, or a 502,',
    'is problem+json in browsers too. gRPC calls get `grpc-status`, and the endpoints of [OAuth 2](clients.md#oauth-2)',
    'answer with its `error`.',
    '',
    '| status | code | detail sent to the client | what to check |',
    '|---|---|---|---|',
    ...entries.map(([code, failure]) => {
      const detail = 'detail' in failure ? failure.detail : failure.title
      return `| ${failure.status} | \`${code}\` | ${detail} | ${failure.check} |`
    }),
    '',
  ].join('\n')
}
