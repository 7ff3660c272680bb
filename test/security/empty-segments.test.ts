import t from 'tap'
import { ask } from '../gateway/support/ask.ts'
import { assertProblem } from '../gateway/support/problem.ts'
import { ask as askHttp2, connectHttp2 } from '../http/h2/ask.ts'
import { startBoth } from '../setup/both.ts'
import { isApp, notInApp } from '../setup/gateway.ts'

const route = { upstream: 'backend', auth: 'none' }
const pass = { ...route, emptySegments: 'pass' }
const admin = { ...route, auth: 'any', roles: ['Admin'] }
const routes = [
  { ...pass, name: 'all', path: '/' },
  { ...pass, name: 'files', path: '/files' },
  { ...pass, name: 'strip', path: '/strip', stripPrefix: true },
  { ...admin, name: 'strip-admin', path: '/strip/admin', stripPrefix: true },
  { ...route, name: 'strict', path: '/strict' },
  { ...admin, name: 'files-admin', path: '/files/admin' },
  { ...admin, name: 'admin', path: '/admin' },
]
const refused = { status: 400, code: 'path-ambiguous' }
const perGateway = { skip: notInApp('its router has rules of its own for such paths') }

t.test('empty segments pass as they were sent where no other route has the path without them', async (t) => {
  const { backend, gateway } = await startBoth(t, { config: { routes } })
  for (const [sent, forwarded = sent] of [
    ['//x'],
    ['//x//y//'],
    ['///'],
    ['/files//x'],
    ['/files//'],
    ['/files//x?a=//b'],
    ['/files/a%20b//c'],
    ['/strip/a//b', '/a//b'],
    ['/strip//a', '//a'],
  ] as const) {
    // http-proxy refuses what begins with two slashes.
    if (isApp() && [sent, forwarded].some((path) => path.startsWith('//'))) continue
    t.equal((await ask(t, gateway.url, `GET ${sent}`)).status, 200, sent)
    t.equal(backend.last().url, forwarded)
  }
})

t.test('no empty segment leads to what another route protects', async (t) => {
  const { backend, gateway } = await startBoth(t, { config: { routes } })
  const { secretKey } = await gateway.createAccount({ role: 'Admin' })
  for (const path of [
    '//admin',
    '//admin/x',
    '/admin//x',
    '///admin',
    '//ADMIN',
    '//%61dmin',
    '//admin%2Fx',
    '/files//admin',
    '/files///admin/x',
    '/files//admin;x',
    '/files//Admin',
    '/strip//admin',
    '//strict/x',
    '/strict//x',
    // As `new URL(target, base)` reads them: the host is dropped.
    '//evil/admin',
    '///evil/admin/x',
    '//evil/files/admin',
    '//evil//admin',
    '/strip//evil/admin',
    '/strip///evil/ADMIN/x',
    // Dots, backslashes and parameters are refused on any route.
    '//../admin',
    '/files//../admin',
    '/files//%2e%2e/admin',
    '/files//.',
    '/files/;x/admin',
    '/files//;x/admin',
    '//\\admin',
    '//#',
    // Paths of the gateway itself.
    ...(isApp() ? [] : ['//portal', '//portal/sign-in', '/portal//sign-in']),
    '//api/v1/admin/accounts',
    '/api//v1/accounts/access-token',
    '//.well-known/jwks.json',
  ])
    for (const headers of [[], [`SecretKey: ${secretKey}`]]) {
      const response = await ask(t, gateway.url, `GET ${path}`, headers)
      if (isApp()) t.equal(response.status >= 400, true, path)
      else assertProblem(t, response, refused)
    }
  t.equal(backend.seen.length, 0)
})

t.test('the same over HTTP/2', perGateway, async (t) => {
  const { backend, gateway } = await startBoth(t, { config: { routes } })
  const client = await connectHttp2(t, gateway.url)
  for (const path of ['//admin', '//evil/admin', '/files//admin', '/strip//evil/admin', '/strict//x'])
    t.equal((await askHttp2(client, path)).status, 400, path)
  t.equal(backend.seen.length, 0)
  t.equal((await askHttp2(client, '/files//x')).status, 200)
  t.equal(backend.last().url, '/files//x')
})

t.test('second targets may have them where a request may', perGateway, async (t) => {
  const { backend, gateway } = await startBoth(t, { config: { routes } })
  const move = (destination: string) => ask(t, gateway.url, 'MOVE /files/x', [`Destination: ${destination}`])
  t.equal((await move('/files/a//b')).status, 200)
  t.match(backend.last().headers.destination, /\/files\/a\/\/b$/)
  for (const destination of ['/files//admin/x', '//evil/admin', '/strict//x'])
    assertProblem(t, await move(destination), { status: 403, code: 'destination-forbidden' })
})
