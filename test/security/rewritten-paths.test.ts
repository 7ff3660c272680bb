import t from 'tap'
import { ask } from '../gateway/support/ask.ts'
import { assertProblem } from '../gateway/support/problem.ts'
import { ask as askHttp2, connectHttp2 } from '../http/h2/ask.ts'
import { startBoth } from '../setup/both.ts'
import { isApp, notInApp } from '../setup/gateway.ts'
import { ambiguous, sameAsAdmin } from './support/confusing-paths.ts'

const route = { upstream: 'backend', auth: 'none' }
const routes = [
  { ...route, name: 'all', path: '/', rewrite: '/base' },
  { ...route, name: 'public', path: '/public', rewrite: '/app/open' },
  { ...route, name: 'pass', path: '/pass', rewrite: '/app/admin-pages', encodedSlash: 'pass' },
  { ...route, name: 'admin', path: '/admin', rewrite: '/app/admin', auth: 'any', roles: ['Admin'] },
]
/** Fastify's router takes no target of absolute form. */
const isRouted = (target: string) => !isApp() || target.startsWith('/')

t.test('no spelling of a path reaches a rewritten path that another route protects', async (t) => {
  const { backend, gateway } = await startBoth(t, { config: { routes } })
  for (const target of ambiguous) t.equal((await ask(t, gateway.url, `GET ${target}`)).status, 400, target)
  for (const target of sameAsAdmin.filter(isRouted))
    t.equal((await ask(t, gateway.url, `GET ${target}`)).status, 401, target)
  t.equal(backend.seen.length, 0)
})

t.test('what follows a prefix cannot leave what stands in its place', async (t) => {
  const { backend, gateway } = await startBoth(t, { config: { routes } })
  for (const rest of [
    '/../admin',
    '/%2e%2e/admin',
    '/..%2fadmin',
    '/..%5cadmin',
    '/..;/admin',
    '/x/../../admin',
    '//x',
  ])
    for (const place of ['/public', '/pass'])
      assertProblem(t, await ask(t, gateway.url, `GET ${place}${rest}`), {
        status: 400,
        code: 'path-ambiguous',
      })
  t.equal(backend.seen.length, 0)
  for (const [sent, forwarded] of [
    ['/public?/../admin', '/app/open?/../admin'],
    ['/public/admin', '/app/open/admin'],
    ['/publicadmin', '/base/publicadmin'],
    ['/app/admin', '/base/app/admin'],
    ['/base/../x', undefined],
  ] as const) {
    const { status } = await ask(t, gateway.url, `GET ${sent}`)
    t.equal(status, forwarded === undefined ? 400 : 200, sent)
    if (forwarded !== undefined) t.equal(backend.last().url, forwarded)
  }
})

t.test('the same over HTTP/2', { skip: notInApp('an app speaks HTTP/1.1') }, async (t) => {
  const { backend, gateway } = await startBoth(t, { config: { routes } })
  const client = await connectHttp2(t, gateway.url)
  for (const path of ['/public/../admin', '/public/..%2fadmin', '/ADMIN', '/public//x'])
    t.equal((await askHttp2(client, path)).status, 400, path)
  t.equal((await askHttp2(client, '/admin/x')).status, 401)
  t.equal(backend.seen.length, 0)
  t.equal((await askHttp2(client, '/public/x?y')).status, 200)
  t.match(backend.last(), { url: '/app/open/x?y', headers: { 'x-forwarded-prefix': '/public' } })
})

t.test('a second target gets what its own route has in place of the prefix', async (t) => {
  const files = [
    { ...route, name: 'files', path: '/files', rewrite: '/dav' },
    { ...route, name: 'private', path: '/files/private', rewrite: '/dav/private', auth: 'any' },
    { ...route, name: 'dav', path: '/dav', auth: 'any' },
  ]
  const { backend, gateway } = await startBoth(t, { config: { routes: files } })
  const move = (destination: string) => ask(t, gateway.url, 'MOVE /files/x', [`Destination: ${destination}`])
  t.equal((await move('http://gateway.test/files/y')).status, 200)
  t.equal(backend.last().headers.destination, 'http://gateway.test/dav/y')
  for (const destination of ['/files/private/y', '/dav/y', '/files/../dav/y', '/other'])
    assertProblem(t, await move(destination), { status: 403, code: 'destination-forbidden' })
  const put = (source: string) => ask(t, gateway.url, 'PUT /files/x', [`X-Amz-Copy-Source: ${source}`], '')
  for (const [source, forwarded] of [
    ['/dav/y', '/dav/y'],
    ['dav/y', 'dav/y'],
    ['/files/y', '/dav/y'],
  ] as const) {
    t.equal((await put(source)).status, 200, source)
    t.equal(backend.last().headers['x-amz-copy-source'], forwarded)
  }
  for (const source of ['/dav/private/y', '/files/private/y', '/y', '/dav/../y', '/davs/y'])
    assertProblem(t, await put(source), { status: 403, code: 'destination-forbidden' })
})
