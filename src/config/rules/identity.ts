import { secondTargetNames } from '#gateway/arrival/second-target-fields.ts'
import { identityNames } from '#gateway/forward/header-rules.ts'
import { foldHeaderName } from '#platform/text.ts'
import type { ConfigReview } from '../schema/schema.ts'

/** Headers that the gateway, the connection or the client use themselves, reduced to letters and digits. */
export const reservedHeaders: ReadonlySet<string> = new Set([
  'authorization',
  'connection',
  'contentencoding',
  'contentlength',
  'contenttype',
  'cookie',
  'date',
  'expect',
  'forwarded',
  'host',
  'keepalive',
  'proxyauthenticate',
  'proxyauthorization',
  'proxyconnection',
  'secretkey',
  'setcookie',
  'te',
  'traceparent',
  'tracestate',
  'trailer',
  'transferencoding',
  'upgrade',
  'via',
  'xforwardedfor',
  'xforwardedhost',
  'xforwardedprefix',
  'xforwardedproto',
  'xrealip',
  'xrequestid',
  ...secondTargetNames,
])

/** Checks that the names of identity headers are distinct and not reserved. */
export function reviewIdentity(review: ConfigReview): void {
  const seen = new Map<string, string>()
  for (const [path, name] of identityHeaderNames(review).filter(([path]) => review.isValid(path))) {
    const normalized = foldHeaderName(name)
    const duplicate = seen.get(normalized)
    if (normalized === '') review.report(path, 'must contain a letter or digit')
    else if (reservedHeaders.has(normalized))
      review.report(path, `"${name}" is a reserved header: choose another name`)
    else if (duplicate)
      review.report(
        path,
        `"${name}" is already the header of "${duplicate}" (only letters and digits are compared): choose another name`,
      )
    seen.set(normalized, path.slice(path.includes('assertion') ? 1 : 2).join('.'))
  }
  reviewAssertion(review)
}

/** The name of each header with its path; names of invalid types are left out. */
function identityHeaderNames({
  tree,
  hasValidShape,
}: ConfigReview): readonly (readonly [readonly string[], string])[] {
  const headers = ['identity', 'headers']
  const assertion = ['identity', 'assertion']
  const named = hasValidShape(headers) ? Object.entries(tree.identity.headers) : []
  return [
    ...named.map(([field, name]) => [[...headers, field], name] as const),
    ...(hasValidShape(assertion)
      ? [[[...assertion, 'header'], tree.identity.assertion.header] as const]
      : []),
  ]
}

/** With HS256, an upstream that can verify assertions could also sign them. */
function reviewAssertion(review: ConfigReview): void {
  if (!review.isValid(['tokens', 'algorithm']) || !review.isValid(['identity', 'assertion', 'enabled']))
    return
  const { identity, tokens } = review.tree
  if (identity.assertion.enabled && tokens.algorithm === 'HS256') {
    const message =
      'needs ES256, RS256 or EdDSA as tokens.algorithm: no upstream could verify what HS256 signs'
    review.report(['identity', 'assertion', 'enabled'], message)
  }
}

/** Headers that tell who the caller is, reduced to letters and digits. */
export function identityHeaders(review: ConfigReview): ReadonlySet<string> {
  const configured = identityHeaderNames(review)
    .filter(([path]) => review.isValid(path))
    .map(([, name]) => name)
  return new Set([...identityNames, ...configured].map(foldHeaderName))
}
