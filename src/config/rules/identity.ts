import type { Review } from '../review.ts'

/** What the gateway, the connection or the client need themselves, as letters and digits. */
const reserved = new Set([
  ...[
    'authorization',
    'connection',
    'contentencoding',
    'contentlength',
    'contenttype',
    'cookie',
    'date',
    'expect',
  ],
  ...[
    'forwarded',
    'host',
    'keepalive',
    'proxyauthenticate',
    'proxyauthorization',
    'proxyconnection',
    'secretkey',
  ],
  ...['setcookie', 'te', 'traceparent', 'tracestate', 'trailer', 'transferencoding', 'upgrade', 'via'],
  ...['xforwardedfor', 'xforwardedhost', 'xforwardedproto', 'xrealip', 'xrequestid'],
])

/** Identity headers have names of their own: not each other's, not those of the connection. */
export function reviewIdentity(review: Review): void {
  if (!review.isSound(['identity'])) return
  const seen = new Map<string, string>()
  for (const [field, name] of Object.entries(review.tree.identity.headers)) {
    const path = ['identity', 'headers', field]
    const plain = name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
    const twin = seen.get(plain)
    if (plain === '') review.report(path, 'must have a letter or digit')
    else if (reserved.has(plain)) review.report(path, `"${name}" has a meaning of its own: take another name`)
    else if (twin)
      review.report(path, `"${name}" is the header of "${twin}" already: case and signs do not count`)
    seen.set(plain, field)
  }
}
