import t from 'tap'
import { comparedPaths, parseRequestTarget, readRequestTarget } from '#gateway/routes/request-target.ts'

/** What is sent, and the path it is matched by. */
const plainPaths: readonly (readonly [sent: string, path: string])[] = [
  ['/', '/'],
  ['/orders', '/orders'],
  ['/orders/', '/orders/'],
  ['/.well-known/x', '/.well-known/x'],
  ['/...', '/...'],
  ['/..a/b..', '/..a/b..'],
  ['/a/.b/..c', '/a/.b/..c'],
  ['/a.', '/a.'],
  ['/a..', '/a..'],
  ["/!$&'()*+,=:@-._~", "/!$&'()*+,=:@-._~"],
  ['/[brackets]|^`"<>{}', '/[brackets]|^`"<>{}'],
  ['/caf\xe9', '/caf\xe9'],
]

/** The result for a path without parameters and encoded slashes. */
const plain = { hasParameters: false, hasEncodedSlash: false, hasEmptySegment: false }

t.test('a plain path is matched as it is, with every character that is unusual but harmless', async (t) => {
  for (const [sent, path] of plainPaths) {
    t.strictSame(parseRequestTarget(sent), { path, sentPath: sent, query: '', ...plain }, sent)
  }
})

const escapedPaths: readonly (readonly [sent: string, path: string])[] = [
  ['/%61dmin', '/admin'],
  ['/%41%5a%5A%30%39%2d%5F%7e', '/AZZ09-_~'],
  ['/a%2eb', '/a.b'],
  ['/%2ehidden', '/.hidden'],
  ['/%2e%2E%2e', '/...'],
  ['/caf%c3%a9', '/caf%C3%A9'],
  ['/a%20b', '/a%20b'],
  ['/%3a%40%21', '/%3A%40%21'],
  ['/%23%3f', '/%23%3F'],
  ['/100%25', '/100%25'],
  ['/%c2%80', '/%C2%80'],
]

t.test('unreserved characters are decoded for matching, other escapes written in upper case', async (t) => {
  for (const [sent, path] of escapedPaths) {
    t.strictSame(parseRequestTarget(sent), { path, sentPath: sent, query: '', ...plain }, sent)
  }
})

t.test('a doubly encoded path is not decoded, and passes', async (t) => {
  for (const sent of ['/%252e%252e%252fadmin', '/a/%252E%252E/b', '/%255c', '/%2561', '/%2500']) {
    t.equal(parseRequestTarget(sent)?.sentPath, sent)
    t.equal(parseRequestTarget(sent)?.hasEncodedSlash, false)
  }
})

t.test('an encoded slash or backslash is detected, in either case', async (t) => {
  const slashed: readonly (readonly [sent: string, path: string])[] = [
    ['/@scope%2fname', '/@scope%2Fname'],
    ['/@scope%2Fname', '/@scope%2Fname'],
    ['/a%5cb', '/a%5Cb'],
    ['/a%5Cb', '/a%5Cb'],
    ['/%2f', '/%2F'],
    ['/a%2F', '/a%2F'],
    ['/a%2fb/%61', '/a%2Fb/a'],
  ]
  for (const [sent, path] of slashed) {
    t.strictSame(
      parseRequestTarget(sent),
      { path, sentPath: sent, query: '', ...plain, hasEncodedSlash: true },
      sent,
    )
  }
})

t.test('path parameters are detected, encoded or not', async (t) => {
  const paths: readonly (readonly [sent: string, path: string])[] = [
    ['/a;v=1', '/a;v=1'],
    ['/orders/1;v=2/items', '/orders/1;v=2/items'],
    ['/a;..', '/a;..'],
    ['/a;x;y=%61/b;z', '/a;x;y=a/b;z'],
    ['/a%3bx/b', '/a%3Bx/b'],
    ['/;jsessionid=1', '/;jsessionid=1'],
    ['/shop/;jsessionid=1', '/shop/;jsessionid=1'],
  ]
  for (const [sent, path] of paths) {
    t.strictSame(
      parseRequestTarget(sent),
      { path, sentPath: sent, query: '', ...plain, hasParameters: true },
      sent,
    )
  }
  t.equal(parseRequestTarget('/a?b;c')?.hasParameters, false, 'a query has none')
  t.equal(parseRequestTarget('/a%253Bb')?.hasParameters, false, 'nor has what is encoded twice')
  for (const sent of ['/a/;x/b', '/;/a', '/a/%3B/b']) t.equal(parseRequestTarget(sent), undefined, sent)
})

t.test('the query is kept as sent, whatever it holds', async (t) => {
  const queries = [
    '?',
    '?a=b',
    '?a=/../b',
    '?a=//',
    '?%zz',
    '?%0a',
    '?a\\b',
    '?a?b?c',
    '?%2e%2e%2f',
    '?q=caf\xe9',
  ]
  for (const query of queries) {
    t.strictSame(parseRequestTarget(`/a${query}`), { path: '/a', sentPath: '/a', query, ...plain }, query)
  }
})

t.test('an absolute-form target is routed by its path', async (t) => {
  const forms: readonly (readonly [sent: string, sentPath: string, query: string])[] = [
    ['http://example.com/a/b?c', '/a/b', '?c'],
    ['HTTPS://EXAMPLE.com:8443/a', '/a', ''],
    ['http://[::1]:80/a', '/a', ''],
    ['http://example.com', '/', ''],
    ['http://example.com?c=d', '/', '?c=d'],
    ['HTTPS://example.com:8443/a', '/a', ''],
  ]
  for (const [sent, sentPath, query] of forms)
    t.hasStrict(parseRequestTarget(sent), { sentPath, query }, sent)
  for (const sent of ['http://example.com/../a', 'http://example.com//a', 'http://example.com/a#b']) {
    t.equal(parseRequestTarget(sent), undefined, sent)
  }
})

t.test('a target that is neither a path nor an absolute URL is refused', async (t) => {
  for (const sent of [
    '',
    '*',
    'a',
    'example.com:443',
    'http:',
    'http:/a',
    '?a',
    '#',
    '%2fa',
    '.',
    '\\a',
    '1x://a/b',
    'ftp://example.com/a',
    'ws://example.com/a',
    'file:///a',
    'http:///a',
    'http://?a',
    'http://user@example.com/a',
    'http://user:pass@example.com/a',
    'http://example.com\\a',
  ]) {
    t.equal(parseRequestTarget(sent), undefined, sent)
  }
})

t.test('a fault of a target is named, an empty segment is left to the route', async (t) => {
  for (const [sent, fault] of [
    ['x', 'noPath'],
    ['/a#b', 'fragment'],
    ['/a b', 'control'],
    ['/a?\t', 'control'],
    ['/a%0a', 'control'],
    ['/a\\b', 'backslash'],
    ['/a%b', 'brokenEscape'],
    ['/a//../b', 'dotSegment'],
    ['/;a/b', 'parametersOnly'],
    ['/a//;b/c', 'parametersOnly'],
  ] as const)
    t.equal(readRequestTarget(sent), fault, sent)
  for (const sent of ['//', '/a//b', '//a;b', '/a//%41', '/a//;'])
    t.match(readRequestTarget(sent), { sentPath: sent, hasEmptySegment: true }, sent)
  for (const sent of ['//', '/a//b']) t.equal(parseRequestTarget(sent), undefined)
})

t.test('a path with empty segments is compared as servers may read it', async (t) => {
  const comparedOf = (sent: string, prefix = '') => {
    const target = readRequestTarget(sent)
    return typeof target === 'string' ? target : comparedPaths(target, prefix)
  }
  t.strictSame(comparedOf('/a/b'), ['/a/b'])
  t.strictSame(comparedOf('/a//b'), ['/a/b', '/a/b'])
  t.strictSame(comparedOf('//a/b'), ['/a/b', '/b'])
  t.strictSame(comparedOf('///a//b'), ['/a/b', '/b'])
  t.strictSame(comparedOf('/x//a/b', '/x'), ['/x/a/b', '/x/b'])
})
