import t, { type Test } from 'tap'
import { findWarnings } from '../../src/config/warnings.ts'
import { createOwnPaths } from '../../src/http/own-paths.ts'
import { least, type Options, read, withRoute } from './files.ts'

function warnings(t: Test, options: Options): readonly string[] {
  const reading = read(t, options)
  t.strictSame(reading.problems, [])
  return findWarnings(reading, createOwnPaths(reading.tree.portal)).map(
    ({ path, message }) => `${path.join('.')}: ${message}`,
  )
}

const [route] = least.routes
const routes = (...changes: readonly Options[]) => ({
  ...least,
  routes: changes.map((change, index) => ({ ...route, name: `r${index}`, ...change })),
})

t.test('a config without risks warns of nothing', async (t) => {
  t.strictSame(warnings(t, least), [])
  t.strictSame(warnings(t, routes({ path: '/a' }, { path: '/health', auth: 'none' })), [])
  t.strictSame(warnings(t, { ...least, trustedProxies: ['10.0.0.0/8', 'fd00::/8'] }), [])
  t.strictSame(warnings(t, withRoute({ websocket: true, methods: ['GET'] })), [])
})

t.test('a public route for everything is warned of', async (t) => {
  t.strictSame(warnings(t, withRoute({ auth: 'none' })), [
    'routes.0.auth: route "all" lets everybody reach everything under /',
  ])
})

t.test('a public route below a protected one is warned of', async (t) => {
  const below = 'routes.1.auth: route "r1" is public below the protected route "r0"'
  t.strictSame(warnings(t, routes({ path: '/a' }, { path: '/a/b', auth: 'none' })), [below])
  t.strictSame(warnings(t, routes({ path: '/' }, { path: '/a', auth: 'none' })), [below])
  t.strictSame(warnings(t, routes({ path: '/a/' }, { path: '/a/b', auth: 'none' })), [below])
  t.strictSame(warnings(t, routes({ path: '/a' }, { path: '/ab', auth: 'none' })), [], 'whole segments only')
  t.strictSame(warnings(t, routes({ path: '/a', auth: 'none' }, { path: '/a/b', auth: 'none' })), [])
})

t.test('a public route of one host is not below a protected one of another', async (t) => {
  const hosts = [
    { path: '/a', host: 'a.example' },
    { path: '/a/b', host: 'b.example', auth: 'none' },
  ]
  t.strictSame(warnings(t, routes(...hosts)), [])
})

const own = [
  ...['/.well-known/jwks.json', '/api/v1/openapi.json', '/api/v1/accounts/access-token'],
  ...['/api/v1/admin/accounts', '/api/v1/admin/accounts/abc/api-key', '/portal', '/portal/keys'],
]

t.test('a route for a path of the gateway itself is warned of', async (t) => {
  for (const path of own) {
    t.strictSame(
      warnings(t, withRoute({ path })),
      ['routes.0.path: route "all" is never used for this path: it belongs to the gateway itself'],
      path,
    )
  }
})

t.test('a proxy that is everybody is warned of', async (t) => {
  const message = 'every client is believed about its address: name the proxies themselves'
  t.strictSame(warnings(t, { ...least, trustedProxies: ['10.0.0.1', '0.0.0.0/0', '::/0'] }), [
    `trustedProxies.1: ${message}`,
    `trustedProxies.2: ${message}`,
  ])
})

t.test('a backend that is not checked is warned of, where there is something to check', async (t) => {
  const upstream = (url: string) => ({
    ...least,
    upstreams: { backend: { targets: [{ url }], tls: { verify: false } } },
  })
  t.strictSame(warnings(t, upstream('http://a')), [])
  for (const url of ['https://a', 'HTTPS://a']) {
    t.strictSame(warnings(t, upstream(url)), [
      'upstreams.backend.tls.verify: whoever answers is taken for the backend: give its certificate as tls.ca instead',
    ])
  }
})

t.test('a WebSocket route that takes no GET is warned of', async (t) => {
  t.strictSame(warnings(t, withRoute({ websocket: true, methods: ['POST'] })), [
    'routes.0.websocket: route "all" takes no GET, and so no WebSocket',
  ])
})
