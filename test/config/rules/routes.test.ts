import { METHODS } from 'node:http'
import t from 'tap'
import {
  load,
  minimalConfig,
  type Options,
  problemMessages,
  withRoute,
  withUpstream,
} from '../config-fixtures.ts'

const [route] = minimalConfig.routes

t.test('a route must name an existing upstream', async (t) => {
  const upstreams = { ...minimalConfig.upstreams, billing: minimalConfig.upstreams.backend }
  const routes = (upstream: string) => ({ upstreams, routes: [{ ...route, upstream }] })
  t.strictSame(problemMessages(t, routes('billing')), [])
  t.strictSame(problemMessages(t, routes('biling')), [
    'routes[0].upstream: unknown upstream "biling", did you mean "billing"?',
  ])
  for (const name of ['other', '', 'constructor', '__proto__', 'Billing'])
    t.match(
      problemMessages(t, routes(name)),
      [/^routes\[0\]\.upstream: (unknown upstream|must not be empty)/],
      name,
    )
})

t.test("a path with another router's syntax is refused: it would match nothing", async (t) => {
  for (const path of ['/admin/*', '/*', '/a*/b', '/v1/:id', '/v1/:id/x', '/v1/{id}', '/int/(.*)']) {
    t.match(problemMessages(t, withRoute({ path })), [/routes\[0\]\.path: is a prefix .*no wildcards/], path)
  }
  t.strictSame(problemMessages(t, withRoute({ path: '/v1/items:batch' })), [])
})

t.test('a character that is in no path, host or name is refused', async (t) => {
  for (const character of ['[', ']', '|', '<', '>', '^', ' ', '"', '`']) {
    const encoded = encodeURIComponent(character)
    t.strictSame(problemMessages(t, withRoute({ path: `/a${character}b` })), [
      `routes[0].path: has "${character}", which no path contains: it is a literal prefix, and clients send ${encoded}`,
    ])
  }
  for (const character of ['[', ']', '|', '<', '>', '^', '{', '}', ' ', '$', '(']) {
    const text = `a${character}b`
    t.match(problemMessages(t, withRoute({ host: `${text}.test` })), [
      /^routes\[0\]\.host: must be a host name/,
    ])
    t.match(problemMessages(t, withRoute({ name: text })), [/^routes\[0\]\.name: has an invalid format/])
    const upstreams = { ...minimalConfig.upstreams, [text]: { targets: [{ url: 'http://a' }] } }
    t.match(problemMessages(t, { ...minimalConfig, upstreams }), [
      /: is not a name: it must consist of letters, digits, - and _/,
    ])
    for (const url of [`http://${text}`, `http://${text}:3000`]) {
      t.match(problemMessages(t, withUpstream({ targets: [{ url }] })), [/targets\[0\]\.url: must /], url)
      t.match(problemMessages(t, { ...minimalConfig, publicUrl: url }), [/^publicUrl: must /], url)
      t.match(
        problemMessages(t, { ...minimalConfig, cors: { origins: [url] } }),
        [/^cors\.origins\[0\]: /],
        url,
      )
    }
    t.match(problemMessages(t, { ...minimalConfig, listen: { host: text } }), [
      /^listen\.host: must be a host/,
    ])
    t.match(problemMessages(t, { ...minimalConfig, portal: { host: text } }), [/^portal\.host: /])
  }
  t.strictSame(problemMessages(t, withRoute({ host: '[::1]' })), [])
  t.strictSame(problemMessages(t, withUpstream({ targets: [{ url: 'http://[::1]:3000' }] })), [])
})

/** As templates write a variable. */
const reference = (name: string) => `$${`{${name}}`}`

t.test('a variable that would be replaced elsewhere is named, with the one that is read', async (t) => {
  for (const [config, path, variable] of [
    [withRoute({ path: `${reference('PREFIX')}/x` }), 'routes[0].path', 'GATEHOUSE__ROUTES__0__PATH'],
    [withRoute({ path: `/${reference('PREFIX')}` }), 'routes[0].path', 'GATEHOUSE__ROUTES__0__PATH'],
    [withRoute({ host: reference('HOST') }), 'routes[0].host', 'GATEHOUSE__ROUTES__0__HOST'],
    [{ ...minimalConfig, listen: { port: reference('PORT') } }, 'listen.port', 'GATEHOUSE__LISTEN__PORT'],
    [{ ...minimalConfig, publicUrl: `https://${reference('HOST')}` }, 'publicUrl', 'GATEHOUSE__PUBLIC_URL'],
    [
      { ...minimalConfig, tokens: { accessLifetime: reference('TTL:-10m') } },
      'tokens.accessLifetime',
      'GATEHOUSE__TOKENS__ACCESS_LIFETIME',
    ],
    [
      withUpstream({ targets: [{ url: `http://${reference('BACKEND_HOST')}:3000` }] }),
      'upstreams.backend.targets[0].url',
      'GATEHOUSE__UPSTREAMS__BACKEND__TARGETS__0__URL',
    ],
  ] as const) {
    const [message = '', ...others] = problemMessages(t, config)
    t.strictSame(others, [])
    t.ok(message.startsWith(`${path}: `), message)
    t.ok(message.endsWith(`; \${…} is not replaced here: set ${variable} to the whole value`), message)
  }
})

t.test('a path of a route must be one that every server reads alike', async (t) => {
  for (const path of ['/', '/a', '/a/', '/a/b.c/~d', '/%61', '/%C3%A9', '/.well-known', '/a..b', '/@a:b'])
    t.strictSame(problemMessages(t, withRoute({ path })), [], path)
  const message =
    'routes[0].path: must be a plain path: no query, dot segment, empty segment, parameter (;), backslash or encoded slash'
  for (const path of [
    '/a?b',
    '/a#b',
    '//',
    '//a',
    '/a//b',
    '/a//',
    '/.',
    '/..',
    '/a/../b',
    '/a/.',
    '/%2e%2e/a',
    '/..;/a',
    '/a;v=1',
    '/a%3Bv',
    '/a\\b',
    '/a%2fb',
    '/a%5Cb',
    '/a\tb',
    '/a%00',
    '/a%zz',
    '/a%2',
  ])
    t.strictSame(problemMessages(t, withRoute({ path })), [message], path)
  for (const path of ['', 'a', 'http://a/b', '*']) {
    t.match(problemMessages(t, withRoute({ path })), [/^routes\[0\]\.path: has an invalid format/], path)
  }
})

t.test('a path with unencoded non-ASCII characters is refused: no request has one', async (t) => {
  for (const path of ['/é', '/a/日本']) t.equal(problemMessages(t, withRoute({ path })).length, 1, path)
})

t.test('a host of a route is a name or address without scheme, port and path', async (t) => {
  for (const host of [
    'api.example.com',
    'API.Example.COM',
    'localhost',
    '10.0.0.1',
    '[::1]',
    'a_b.example',
  ]) {
    t.strictSame(problemMessages(t, withRoute({ host })), [], host)
  }
  const message =
    'routes[0].host: must be a host name without scheme, port and path, and without a dot at its end'
  for (const host of [
    'https://a',
    'a:80',
    'a/b',
    '::1',
    'a b',
    'é.example',
    'a,b',
    '[::1]:80',
    'a.example.',
  ]) {
    t.strictSame(problemMessages(t, withRoute({ host })), [message], host)
  }
})

t.test('a method of a route is one in capitals that Node parses, except TRACE and CONNECT', async (t) => {
  const methods = METHODS.filter((method) => method !== 'TRACE' && method !== 'CONNECT')
  t.strictSame(problemMessages(t, withRoute({ methods })), [])
  t.strictSame(
    problemMessages(t, withRoute({ methods: ['GET', 'get', 'GRAB', 'TRACE', 'CONNECT', 'PROPFIN'] })),
    [
      'routes[0].methods[1]: "get" is not an HTTP method that can be proxied, did you mean "GET"?',
      'routes[0].methods[2]: "GRAB" is not an HTTP method that can be proxied',
      'routes[0].methods[3]: TRACE is never proxied',
      'routes[0].methods[4]: CONNECT is never proxied',
      'routes[0].methods[5]: "PROPFIN" is not an HTTP method that can be proxied, did you mean "PROPFIND"?',
    ],
  )
})

t.test('options for known callers are refused on a route without authentication', async (t) => {
  for (const auth of ['none', 'optional']) {
    const message = `cannot be combined with auth: ${auth}, which allows anonymous requests`
    const options = { auth, roles: ['Admin'], scopes: ['a'], verifiedOnly: true }
    t.strictSame(problemMessages(t, withRoute(options)), [
      `routes[0].roles: ${message}`,
      `routes[0].scopes: ${message}`,
      `routes[0].verifiedOnly: ${message}`,
    ])
    t.strictSame(problemMessages(t, withRoute({ auth, verifiedOnly: false })), [])
  }
  for (const auth of ['any', 'secretKey', 'bearer']) {
    const options = { auth, roles: ['Admin'], scopes: ['a'], verifiedOnly: true }
    t.strictSame(problemMessages(t, withRoute(options)), [], auth)
  }
})

const pairs: readonly (readonly [what: string, one: Options, other: Options, isSame: boolean])[] = [
  ['the same path', { path: '/a' }, { path: '/a' }, true],
  ['a path that only differs by its last slash', { path: '/a' }, { path: '/a/' }, true],
  ['the root in two ways', { path: '/' }, { path: '/' }, true],
  ['a path that is only written differently', { path: '/a' }, { path: '/%61' }, true],
  ['hosts that only differ by case', { host: 'A.example' }, { host: 'a.EXAMPLE' }, true],
  ['a method in common', { methods: ['GET', 'PUT'] }, { methods: ['PUT', 'POST'] }, true],
  ['any method', {}, {}, true],
  ['any method and one, which comes first', {}, { methods: ['GET'] }, false],
  ['one method and any', { methods: ['GET'] }, {}, false],
  ['other roles, which do not choose', { roles: ['A'] }, { roles: ['B'] }, true],
  ['paths of other case', { path: '/a' }, { path: '/A' }, false],
  ['a longer path', { path: '/a' }, { path: '/a/b' }, false],
  ['another host', { host: 'a.example' }, { host: 'b.example' }, false],
  ['one host and any', { host: 'a.example' }, {}, false],
  ['other methods', { methods: ['GET'] }, { methods: ['POST'] }, false],
  ['GET beside a HEAD of its own', { methods: ['GET'] }, { methods: ['HEAD'] }, false],
]

for (const [what, one, other, isSame] of pairs) {
  t.test(`two routes ${isSame ? 'never' : 'may'} match requests of ${what}`, async (t) => {
    const routes = [
      { ...route, path: '/x', name: 'x' },
      { ...route, name: 'one', ...one },
    ]
    const found = problemMessages(t, {
      ...minimalConfig,
      routes: [...routes, { ...route, name: 'other', ...other }],
    })
    const message = 'route "one" has the same host, path and method: one of them would never match'
    t.strictSame(found, isSame ? [`routes[2].path: ${message}`] : [])
  })
}

t.test('duplicate route names are refused, and a broken route hides no other problem', async (t) => {
  const routes = [
    route,
    { ...route, path: '/b' },
    'broken',
    { ...route, name: 'c', path: '/c', upstream: 'c' },
  ]
  t.strictSame(problemMessages(t, { ...minimalConfig, routes }), [
    'routes[1].name: duplicate route name "all"',
    'routes[2]: must be a map such as { name: …, path: …, auth: … }',
    'routes[3].upstream: unknown upstream "c"',
  ])
})

t.test('a config may have no routes', async (t) => {
  t.strictSame(load(t, { ...minimalConfig, routes: [] }).routes, [])
})

t.test('the field of the costs must be one that clients can do without', async (t) => {
  for (const costHeader of ['X-Cost', 'cost', 'X'.repeat(64)])
    t.strictSame(problemMessages(t, withRoute({ costHeader })), [], costHeader)
  for (const costHeader of [
    'Content-Length',
    'content_type',
    'Set-Cookie',
    'Connection',
    'Location',
    'ETag',
    'Vary',
  ])
    t.strictSame(problemMessages(t, withRoute({ costHeader })), [
      `routes[0].costHeader: "${costHeader}" is a reserved header: choose another name`,
    ])
  t.match(problemMessages(t, withRoute({ costHeader: '--' })), [/costHeader: must contain a letter or digit/])
  for (const costHeader of ['', 'X Cost', 'X-Cost:', 'X'.repeat(65)])
    t.match(problemMessages(t, withRoute({ costHeader })), [/^routes\[0\]\.costHeader: /], costHeader)
})

t.test('the place of the costs is a path, or up to 8 with a factor each, none of them twice', async (t) => {
  const longest = Array(8).fill('x'.repeat(64)).join('.')
  const eight = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`usage.${index}`, 1e9]))
  for (const costField of ['usage.total_tokens', 'a | b.c | d | e', longest, { 'a.b': 0, c: 0.5 }, eight])
    t.strictSame(problemMessages(t, withRoute({ costField })), [])
  for (const costField of [
    '',
    'a..b',
    'a b',
    'a|b',
    'a | b | c | d | e',
    `${longest}.x`,
    'x'.repeat(65),
    7,
    {},
    { a: -1 },
    { a: 1e9 + 1 },
    { a: '2' },
    { ...eight, ninth: 1 },
  ])
    t.match(
      problemMessages(t, withRoute({ costField })),
      [/^routes\[0\]\.costField/],
      JSON.stringify(costField),
    )
  for (const costField of ['a | b | a', { 'a | b': 1, a: 2 }])
    t.strictSame(problemMessages(t, withRoute({ costField })), [
      'routes[0].costField: "a" is named twice: name each place once',
    ])
  t.strictSame(load(t, withRoute({ costField: { 'a.b | c': 2 } })).routes[0]?.costField, [
    { paths: ['a.b', 'c'], factor: 2 },
  ])
})

t.test('quotas count units only where a response says them', async (t) => {
  for (const cost of [{ costField: 'a' }, { costHeader: 'X-Cost' }])
    t.strictSame(problemMessages(t, withRoute({ ...cost, quotaCounts: 'units' })), [])
  t.strictSame(problemMessages(t, withRoute({ quotaCounts: 'requests' })), [])
  t.strictSame(problemMessages(t, withRoute({ quotaCounts: 'units' })), [
    'routes[0].quotaCounts: needs a costField or costHeader, which says how many units a request is',
  ])
})

t.test('usage is asked for only where it is read', async (t) => {
  t.strictSame(problemMessages(t, withRoute({ costField: 'a', includeUsage: true })), [])
  t.strictSame(problemMessages(t, withRoute({ includeUsage: false })), [])
  for (const other of [{}, { costHeader: 'X-Cost' }])
    t.strictSame(problemMessages(t, withRoute({ includeUsage: true, ...other })), [
      'routes[0].includeUsage: needs a costField, which says where in the response the usage is',
    ])
})

t.test('a route needs no upstream where the listener for other proxies is configured', async (t) => {
  const withoutUpstream = { name: 'all', path: '/', auth: 'any' }
  t.strictSame(problemMessages(t, { ...minimalConfig, routes: [withoutUpstream] }), [
    'routes[0].upstream: is missing',
  ])
  t.strictSame(problemMessages(t, { ...minimalConfig, routes: [withoutUpstream], decide: {} }), [])
})

t.test('an Authorization that is the backend’s needs another place for the credential of callers', (t) => {
  const messages = (options: Options, others: Options = {}) =>
    problemMessages(t, { ...withRoute({ authorization: 'backend', ...options }), ...others })
  const noHeader = { keys: { accept: ['bearer', 'basic'] } }
  const cookie = { browser: { cookie: true } }
  const accessCookie = { enabled: true }
  for (const auth of ['none', 'optional', 'secretKey', 'any']) t.strictSame(messages({ auth }), [], auth)
  t.strictSame(messages({ auth: 'none' }, noHeader), [])
  t.strictSame(messages({ auth: 'any', ...cookie }, { ...noHeader, accessCookie }), [])
  t.strictSame(messages({ auth: 'bearer', ...cookie }, { accessCookie }), [])
  for (const auth of ['optional', 'secretKey', 'any'])
    t.strictSame(messages({ auth }, noHeader), [
      'routes[0].authorization: leaves a secret key no place: name a header in keys.accept',
    ])
  t.strictSame(messages({ auth: 'bearer' }), [
    'routes[0].authorization: leaves an access token no place but the access cookie: set browser.cookie, or auth: any',
  ])
  const issuers = [{ name: 'corp', issuer: 'https://id.example.com', audience: 'orders' }]
  t.strictSame(messages({ auth: 'any', issuers: ['corp'] }, { issuers }), [
    'routes[0].issuers: cannot be combined with authorization: backend, as their tokens come in Authorization',
  ])
  t.end()
})

t.test('rewrite is a plain path, and stands for stripPrefix', async (t) => {
  for (const rewrite of ['/', '/socket', '/socket/', '/a/b.c', '/caf%C3%A9'])
    t.strictSame(problemMessages(t, withRoute({ path: '/x', rewrite })), [], rewrite)
  for (const rewrite of ['/a/$1', '/a/*', '/:id', '/{id}'])
    t.match(
      problemMessages(t, withRoute({ path: '/x', rewrite })),
      [/routes\[0\]\.rewrite: .*no wildcards/],
      rewrite,
    )
  for (const rewrite of [
    'socket',
    '//evil',
    '/a//b',
    '/a/../b',
    '/a?b',
    '/a;b',
    '/a%2fb',
    '/a b',
    '/é',
    'http://x/',
  ])
    t.match(problemMessages(t, withRoute({ path: '/x', rewrite })), [/routes\[0\]\.rewrite: /], rewrite)
  t.strictSame(problemMessages(t, withRoute({ path: '/x', rewrite: '/a', stripPrefix: true })), [
    'routes[0].rewrite: cannot be combined with stripPrefix: true, which is rewrite: /',
  ])
  const [stripped, root, socket] = ['', '/', '/socket/'].map(
    (rewrite) =>
      load(t, withRoute({ path: '/x', ...(rewrite === '' ? { stripPrefix: true } : { rewrite }) })).routes[0],
  )
  t.strictSame([stripped?.rewrite, root?.rewrite, socket?.rewrite], ['', '', '/socket'])
})

t.test('auth: deny needs no upstream, and takes no rule about callers', async (t) => {
  const denied = { name: 'closed', path: '/x', auth: 'deny' }
  const problems = (options: Options) =>
    problemMessages(t, { ...minimalConfig, routes: [{ ...denied, ...options }] })
  t.strictSame(problems({}), [])
  t.strictSame(problems({ upstream: 'backend', rateLimit: { limit: 1, per: '1s' } }), [])
  t.strictSame(problems({ roles: ['A'], scopes: ['a'], verifiedOnly: true }), [
    'routes[0].roles: cannot be combined with auth: deny, which refuses everybody',
    'routes[0].scopes: cannot be combined with auth: deny, which refuses everybody',
    'routes[0].verifiedOnly: cannot be combined with auth: deny, which refuses everybody',
  ])
  t.match(problems({ auth: 'denied', upstream: 'backend' }), [/routes\[0\]\.auth: .*deny/])
  t.strictSame(problems({ auth: 'any' }), ['routes[0].upstream: is missing'])
})

t.test('without an upstream a route has no rules about forwarding', async (t) => {
  const routes = [
    { name: 'decided', path: '/x', auth: 'any', rewrite: '/y', responseHeaders: { remove: ['A'] } },
    { name: 'stripped', path: '/y', auth: 'any', stripPrefix: true },
  ]
  t.match(problemMessages(t, { ...minimalConfig, decide: {}, routes }), [
    /routes\[0\]\.rewrite: needs an upstream/,
    /routes\[0\]\.responseHeaders: needs an upstream/,
    /routes\[1\]\.stripPrefix: needs an upstream/,
  ])
})

t.test('a wildcard is the first label of a host, for one or more', async (t) => {
  for (const host of ['*.example.com', '*.a.b', '*.Example', 'localhost'])
    t.strictSame(problemMessages(t, withRoute({ host })), [], host)
  t.strictSame(problemMessages(t, withRoute({ host: '*' })), [
    'routes[0].host: matches every host: leave it out',
  ])
  for (const host of ['*.', '*..a', 'a.*', 'a.*.b', '*a.b', '*.*.a', '**.a', '*.a:80', '*.a.', '*.[::1]'])
    t.match(problemMessages(t, withRoute({ host })), [/routes\[0\]\.host: m/], host)
  const two = [
    { ...route, host: '*.a.b' },
    { ...route, name: 'again', host: '*.A.b' },
  ]
  t.match(problemMessages(t, { ...minimalConfig, routes: two }), [/the same host, path and method/])
})
