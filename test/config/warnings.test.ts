import t, { type Test } from 'tap'
import { problemText } from '#config/problem.ts'
import { findWarnings } from '#config/warnings/find-warnings.ts'
import { createOwnPaths } from '#gateway/routes/own-paths.ts'
import { expiredCertificate } from '../setup/certificates.ts'
import { minimalConfig, type Options, read, withRoute } from './config-fixtures.ts'

function warnings(t: Test, options: Options): readonly string[] {
  const reading = read(t, options)
  t.strictSame(reading.problems, [])
  return findWarnings(reading, createOwnPaths(reading.tree.portal), { env: {} }).map(
    ({ path, ...texts }) => `${path.join('.')}: ${problemText(texts)}`,
  )
}

const [route] = minimalConfig.routes
const routes = (...changes: readonly Options[]) => ({
  ...minimalConfig,
  routes: changes.map((change, index) => ({ ...route, name: `r${index}`, ...change })),
})

t.test('a config without risks warns of nothing', async (t) => {
  t.strictSame(warnings(t, minimalConfig), [])
  t.strictSame(warnings(t, routes({ path: '/a' }, { path: '/health', auth: 'none' })), [])
  t.strictSame(warnings(t, { ...minimalConfig, trustedProxies: ['10.0.0.0/8', 'fd00::/8'] }), [])
  t.strictSame(warnings(t, withRoute({ websocket: true, methods: ['GET'] })), [])
})

const own = [
  '/.well-known/jwks.json',
  '/api/v1/openapi.json',
  '/api/v1/accounts/access-token',
  '/api/v1/admin/accounts',
  '/api/v1/admin/accounts/abc/api-key',
  '/portal',
  '/portal/keys',
]

t.test("a route for one of the gateway's own paths is warned of", async (t) => {
  for (const path of own) {
    t.strictSame(
      warnings(t, withRoute({ path })),
      [
        'routes.0.path: route "all" is never used: this path belongs to the gateway itself: choose another path',
      ],
      path,
    )
  }
})

t.test('trusted proxies that cover most addresses are warned of', async (t) => {
  const ranges = [
    '10.0.0.1',
    '0.0.0.0/0',
    '::/0',
    '128.0.0.0/1',
    '10.0.0.0/8',
    '8.0.0.0/7',
    'fc00::/7',
    '2000::/3',
  ]
  t.strictSame(warnings(t, { ...minimalConfig, trustedProxies: ranges }), [
    'trustedProxies.1: X-Forwarded-* is trusted from every client: list only the proxies',
    'trustedProxies.2: X-Forwarded-* is trusted from every client: list only the proxies',
    'trustedProxies.3: X-Forwarded-* is trusted from a large part of the Internet: list only the proxies',
    'trustedProxies.5: X-Forwarded-* is trusted from a large part of the Internet: list only the proxies',
    'trustedProxies.7: X-Forwarded-* is trusted from a large part of the Internet: list only the proxies',
  ])
})

t.test('trusted proxies in the IPv6 form of IPv4 are warned of like the same range in IPv4', async (t) => {
  const rest = 'list only the proxies'
  const everyone = `X-Forwarded-* is trusted from every client: ${rest}`
  const many = `X-Forwarded-* is trusted from a large part of the Internet: ${rest}`
  const cases: readonly (readonly [range: string, warnings: readonly string[]])[] = [
    ['::ffff:0:0/96', [everyone]],
    ['::FFFF:0.0.0.0/96', [everyone]],
    ['0:0:0:0:0:ffff:0:0/96', [everyone]],
    ['::ffff:0:0/95', [everyone]],
    ['::/80', [everyone]],
    ['::/8', [everyone]],
    ['::ffff:0:0/97', [many]],
    ['::ffff:128.0.0.0/97', [many]],
    ['::ffff:8.0.0.0/103', [many]],
    ['::ffff:10.0.0.0/104', []],
    ['::ffff:10.0.0.1', []],
    ['::/96', []],
    ['64:ff9b::/96', []],
  ]
  for (const [range, expected] of cases) {
    const found = warnings(t, { ...minimalConfig, trustedProxies: [range] })
    t.strictSame(
      found,
      expected.map((warning) => `trustedProxies.0: ${warning}`),
      range,
    )
  }
})

t.test('a config without routes is warned of: is empty', async (t) => {
  t.strictSame(warnings(t, { ...minimalConfig, routes: [] }), [
    "routes: is empty: every request except to the gateway's own paths gets 404",
  ])
})

t.test('keys and tokens sent unencrypted are warned of, except on this machine alone', async (t) => {
  const rest = 'set the https URL that clients use'
  const secure = { cookie: { secure: true } }
  t.strictSame(warnings(t, { ...minimalConfig, publicUrl: 'http://api.example.com' }), [
    `publicUrl: keys and tokens travel unencrypted, and the refresh cookie is not Secure: ${rest}`,
  ])
  t.strictSame(warnings(t, { ...minimalConfig, ...secure, publicUrl: 'http://10.0.0.1:8080' }), [
    `publicUrl: keys and tokens travel unencrypted: ${rest}`,
  ])
  for (const host of ['localhost:1', 'a.localhost', '127.0.0.1:8080', '127.1.2.3', '[::1]:80']) {
    t.strictSame(
      warnings(t, { ...minimalConfig, listen: { port: 0 }, publicUrl: `http://${host}` }),
      [],
      host,
    )
  }
  t.strictSame(
    warnings(t, { ...minimalConfig, publicUrl: 'https://api.example.com', trustedProxies: ['10.0.0.1'] }),
    [],
  )
})

t.test('TLS options of an upstream without a target of https are warned of', async (t) => {
  const upstream = (url: string) => ({
    ...minimalConfig,
    upstreams: { backend: { targets: [{ url }], tls: { serverName: 'orders.internal' } } },
  })
  t.strictSame(warnings(t, upstream('https://10.0.0.11')), [])
  for (const url of ['http://10.0.0.11', 'unix:/run/app.sock'])
    t.strictSame(warnings(t, upstream(url)), [
      'upstreams.backend.tls.serverName: has no effect: no target of this upstream is https: use https:// in the url of its targets',
    ])
})

t.test('addresses of an upstream without a host name are warned of', async (t) => {
  const upstream = (url: string) => ({
    ...minimalConfig,
    upstreams: { backend: { targets: [{ url }], resolve: 'all' } },
  })
  t.strictSame(warnings(t, upstream('http://orders.internal')), [])
  for (const url of ['http://10.0.0.11', 'http://[fd00::1]:3000', 'unix:/run/app.sock'])
    t.strictSame(warnings(t, upstream(url)), [
      'upstreams.backend.resolve: has no effect: no target of this upstream has a host name: use host names in the url of its targets',
    ])
})

t.test('a TLS backend with verification off is warned of', async (t) => {
  const upstream = (url: string) => ({
    ...minimalConfig,
    upstreams: { backend: { targets: [{ url }], tls: { verify: false } } },
  })
  t.strictSame(warnings(t, upstream('http://a')), [])
  for (const url of ['https://a', 'HTTPS://a']) {
    t.strictSame(warnings(t, upstream(url)), [
      "upstreams.backend.tls.verify: the backend's certificate is not verified: set its CA as tls.ca instead",
    ])
  }
})

t.test('a WebSocket route that takes no GET is warned of', async (t) => {
  t.strictSame(warnings(t, withRoute({ websocket: true, methods: ['POST'] })), [
    'routes.0.websocket: route "all" does not accept GET, which WebSockets need: add GET to its methods',
  ])
})

t.test('an expired certificate and a publicUrl without TLS are warned of', async (t) => {
  const env = { CERT: expiredCertificate.cert, KEY: expiredCertificate.key }
  const listen = { tls: { cert: { env: 'CERT' }, key: { env: 'KEY' } } }
  const warned = (publicUrl: string) => {
    const reading = read(t, { ...minimalConfig, listen, publicUrl }, { env })
    return findWarnings(reading, createOwnPaths(reading.tree.portal), { env: {} }).map(
      ({ path, ...texts }) => `${path.join('.')}: ${problemText(texts)}`,
    )
  }
  const certificate = 'listen.tls.cert: the certificate has expired: Jan  2 00:00:00 2020 GMT'
  t.strictSame(warned('https://a.example'), [certificate])
  t.strictSame(warned('http://localhost:8080'), [
    certificate,
    'publicUrl: begins with http: but listen.tls serves https, so cookies are not Secure and the issuer is wrong: set the https URL',
  ])
})

t.test('a listener for other proxies that trusts none is warned of', async (t) => {
  t.strictSame(warnings(t, { ...minimalConfig, decide: {} }), [
    'decide: has no effect while trustedProxies is empty: list the proxies that ask it',
  ])
  t.strictSame(warnings(t, { ...minimalConfig, decide: {}, trustedProxies: ['10.0.0.0/8'] }), [])
})
