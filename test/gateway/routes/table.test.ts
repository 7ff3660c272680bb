import t from 'tap'
import type { RouteOptions } from '#gateway/routes/compile.ts'
import type { RouteTable } from '#gateway/routes/table.ts'
import { type FakeUpstream, tableOf, targetOf } from './examples.ts'

interface Asked {
  readonly host?: string
  readonly method?: string
}

/** Name of the route that a request gets, or why it gets none. */
function ask(
  table: RouteTable<FakeUpstream | undefined>,
  sent: string,
  { host = 'any.example', method = 'GET' }: Asked = {},
) {
  const match = table.match(host, targetOf(sent), method)
  if (match.kind === 'route') return match.route.name
  return match.kind === 'method' ? match.allowed.join(' ') : match.kind
}

const places = [
  { name: 'root', path: '/' },
  { name: 'a', path: '/a' },
  { name: 'a-b', path: '/a/b/' },
  { name: 'ab', path: '/ab' },
  { name: 'host-root', path: '/', host: 'api.example' },
  { name: 'host-a', path: '/a', host: 'API.example' },
]

t.test('path parameters of a segment do not affect the route', async (t) => {
  const table = tableOf([...places, { name: 'pass', path: '/pass', encodedSlash: 'pass' }])
  for (const sent of ['/a;x', '/a;', '/a%3bx', '/a;x/b', '/a/b;x', '/a;x/b;y/c', '/ab;x', '/pass;x%2Fa'])
    t.equal(ask(table, sent), 'ambiguous', sent)
  t.equal(ask(table, '/a/c;x/d;y'), 'a')
  t.equal(ask(table, '/a;x', { host: 'api.example' }), 'ambiguous')
  t.equal(ask(table, '/pass/a;x%2Fb'), 'pass')
})

t.test('a method in other letters has only the route that it would have in capitals', async (t) => {
  const table = tableOf([
    { name: 'any', path: '/a' },
    { name: 'delete', path: '/a', methods: ['DELETE'] },
    { name: 'read', path: '/r', methods: ['GET'] },
  ])
  for (const method of ['delete', 'Delete', 'dELETE', 'trace', 'connect'])
    t.match(ask(table, '/a', { method }), /^DELETE GET HEAD/, method)
  t.equal(ask(table, '/r', { method: 'get' }), 'GET HEAD')
  t.equal(ask(table, '/a', { method: 'DELETE' }), 'delete')
  for (const method of ['BREW', 'brew', 'deletes', 'get', 'Patch'])
    t.equal(ask(table, '/a', { method }), 'any', method)
})

t.test('a host that some servers read as one with routes of its own has none', async (t) => {
  const table = tableOf(places)
  for (const host of ['api.example.', 'api.example..', '%61pi.example', 'api%2eexample', '%41pi.example%2e'])
    for (const sent of ['/', '/a', '/x']) t.equal(ask(table, sent, { host }), 'host', host + sent)
  for (const host of ['other.example.', '%6fther.example', 'api.example.x', '.'])
    t.equal(ask(table, '/a', { host }), 'a', host)
})

t.test('the longest prefix on whole segments wins, one of this host before one of any', async (t) => {
  const answers: readonly (readonly [sent: string, host: string, name: string])[] = [
    ['/', 'any.example', 'root'],
    ['/?a', 'any.example', 'root'],
    ['/x/y', 'any.example', 'root'],
    ['/a', 'any.example', 'a'],
    ['/a/', 'any.example', 'a'],
    ['/a/bc', 'any.example', 'a'],
    ['/a/b', 'any.example', 'a-b'],
    ['/a/b/', 'any.example', 'a-b'],
    ['/a/b/c/d', 'any.example', 'a-b'],
    ['/%61/%62', 'any.example', 'a-b'],
    ['/ab', 'any.example', 'ab'],
    ['/abc', 'any.example', 'root'],
    ['/a/c;x', 'any.example', 'a'],
    ['/x;a/y', 'any.example', 'root'],
    ['/', 'api.example', 'host-root'],
    ['/ab', 'api.example', 'ab'],
    ['/abc', 'api.example', 'host-root'],
    ['/a/c', 'api.example', 'host-a'],
    ['/a/b', 'api.example', 'a-b'],
  ]
  for (const routes of shuffles(places)) {
    const table = tableOf(routes)
    t.strictSame(
      answers.map(([sent, host]) => [sent, host, ask(table, sent, { host })]),
      answers,
    )
  }
})

t.test('a request may match no route', async (t) => {
  const table = tableOf([{ path: '/a' }, { path: '/', host: 'api.example' }])
  t.equal(ask(table, '/'), 'none')
  t.equal(ask(table, '/b'), 'none')
  t.equal(ask(table, '/ab'), 'none')
  t.equal(ask(tableOf([]), '/'), 'none')
})

t.test('routes of one path are chosen by method, and Allow lists all their methods', async (t) => {
  const routes = [
    { name: 'read', path: '/a', methods: ['GET'] },
    { name: 'write', path: '/a', methods: ['POST', 'PUT'] },
    { name: 'dav', path: '/a', methods: ['PROPFIND'] },
    { name: 'other', path: '/b', methods: ['DELETE'] },
  ]
  for (const shuffled of shuffles(routes)) {
    const table = tableOf(shuffled)
    const methods = { GET: 'read', HEAD: 'read', POST: 'write', PUT: 'write', PROPFIND: 'dav' }
    for (const [method, name] of Object.entries(methods)) t.equal(ask(table, '/a', { method }), name, method)
    for (const method of ['DELETE', 'get', 'OPTIONS']) {
      t.equal(ask(table, '/a', { method }), 'GET HEAD POST PROPFIND PUT', method)
    }
  }
})

t.test('a wrong method is not sent to a shorter prefix or to another host', async (t) => {
  const table = tableOf([
    { name: 'root', path: '/' },
    { name: 'a', path: '/a' },
    { name: 'host-a', path: '/a', host: 'api.example', methods: ['POST'] },
  ])
  t.equal(ask(table, '/a', { host: 'api.example' }), 'POST')
})

t.test('a route for HEAD alone gets HEAD, whether it stands before or after the one for GET', async (t) => {
  const routes = [
    { name: 'get', path: '/a', methods: ['GET'] },
    { name: 'head', path: '/a', methods: ['HEAD'] },
  ]
  for (const shuffled of shuffles(routes)) t.equal(ask(tableOf(shuffled), '/a', { method: 'HEAD' }), 'head')
})

t.test('a route that names its methods wins over one of the same path that takes all', async (t) => {
  const routes = [
    { name: 'rest', path: '/a' },
    { name: 'read', path: '/a', methods: ['GET'] },
    { name: 'head', path: '/a', methods: ['HEAD'] },
    { name: 'write', path: '/a', methods: ['POST'] },
  ]
  const answers = { GET: 'read', HEAD: 'head', POST: 'write', PUT: 'rest', PROPFIND: 'rest', put: 'rest' }
  for (const shuffled of shuffles(routes)) {
    const table = tableOf([...shuffled, { name: 'root', path: '/', methods: ['PUT'] }])
    for (const [method, name] of Object.entries(answers)) {
      t.equal(ask(table, '/a/b', { method }), name, method)
    }
  }
})

t.test('an encoded slash is ambiguous if the route of that method rejects it', async (t) => {
  const table = tableOf([
    { name: 'npm', path: '/npm', methods: ['GET'] },
    { name: 'publish', path: '/npm', methods: ['PUT'], encodedSlash: 'reject' },
    { name: 'plain', path: '/plain', methods: ['GET'], encodedSlash: 'reject' },
  ])
  t.equal(ask(table, '/npm/@a%2fb'), 'npm')
  t.equal(ask(table, '/npm/@a%5cb'), 'npm')
  t.equal(ask(table, '/npm/@a%2fb', { method: 'PUT' }), 'ambiguous')
  t.equal(ask(table, '/plain/a%2fb'), 'ambiguous')
  t.equal(ask(table, '/plain/a%2fb', { method: 'PUT' }), 'ambiguous')
})

t.test('the longest path that fits into a request costs next to nothing to match', async (t) => {
  const table = tableOf([{ path: '/a' }])
  const target = targetOf('/x'.repeat(8_000))
  const start = performance.now()
  const kinds = Array.from({ length: 50 }, () => table.match('any.example', target, 'GET').kind)
  const tookMs = performance.now() - start
  t.strictSame([...new Set(kinds)], ['none'])
  // Walking up all 8,000 segments takes some 10 ms a time: as much as 100 ordinary requests.
  t.ok(tookMs < 100, `50 times took ${tookMs} ms`)
})

/** Every order of a few routes. */
function shuffles(routes: readonly Partial<RouteOptions>[]): readonly Partial<RouteOptions>[][] {
  return routes.length === 0
    ? [[]]
    : routes.flatMap((route, index) =>
        shuffles(routes.toSpliced(index, 1)).map((others) => [route, ...others]),
      )
}

t.test(
  'a wildcard stands for one or more labels; a name wins over it, a longer one over a shorter',
  async (t) => {
    const table = tableOf([
      { name: 'any', path: '/a' },
      { name: 'all', path: '/a', host: '*.example.com' },
      { name: 'eu', path: '/a', host: '*.EU.example.com' },
      { name: 'api', path: '/a', host: 'api.eu.example.com' },
      { name: 'deep', path: '/a/b', host: '*.example.com' },
    ])
    for (const [host, sent, name] of [
      ['example.com', '/a', 'any'],
      ['x.example.com', '/a', 'all'],
      ['x.y.example.com', '/a', 'all'],
      ['eu.example.com', '/a', 'all'],
      ['x.eu.example.com', '/a', 'eu'],
      ['api.eu.example.com', '/a', 'api'],
      ['other.test', '/a', 'any'],
      // The longest path wins, whatever the host is.
      ['api.eu.example.com', '/a/b/c', 'deep'],
      ['example.com', '/a/b', 'any'],
      ['x.example.com', '/b', 'none'],
      // Some servers read them as a name of the wildcard.
      ['x.example.com.', '/a', 'host'],
      ['x%2eexample.com', '/a', 'host'],
      ['x.example.com%2e', '/b', 'host'],
      ['example.com.', '/a', 'any'],
    ] as const)
      t.equal(ask(table, sent, { host }), name, `${host} ${sent}`)
  },
)

t.test('a path that is ambiguous for a host of a wildcard is refused there only', async (t) => {
  const table = tableOf([
    { name: 'any', path: '/' },
    { name: 'admin', path: '/admin', host: '*.example.com' },
    { name: 'name', path: '/', host: 'a.example.com' },
    { name: 'open', path: '/Admin', host: 'b.example.com', caseSensitive: true },
  ])
  for (const sent of ['/Admin', '/admin;x', '/%2Fadmin/x', '/ADMIN/x']) {
    for (const host of ['x.example.com', 'a.example.com', 'x.y.example.com'])
      t.equal(ask(table, sent, { host }), 'ambiguous', `${host} ${sent}`)
    for (const host of ['example.com', 'other.test'])
      t.equal(ask(table, sent, { host }), 'any', `${host} ${sent}`)
  }
  t.equal(ask(table, '/Admin', { host: 'b.example.com' }), 'open', 'its backend tells them apart')
  t.equal(ask(table, '/admin', { host: 'b.example.com' }), 'ambiguous')
})
