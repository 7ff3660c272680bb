import t from 'tap'
import { assertProblem } from '../gateway/support/problem.ts'
import { ask as askHttp2, connectHttp2 } from '../http/h2/ask.ts'
import { startBoth } from '../setup/both.ts'
import { rawRequest } from '../setup/raw-client.ts'

const route = { upstream: 'backend', auth: 'none' }
const routes = [
  { ...route, name: 'tenants', path: '/', host: '*.example.com' },
  { ...route, name: 'admin', path: '/', host: 'admin.example.com', auth: 'any', roles: ['Admin'] },
  { ...route, name: 'internal', path: '/', host: '*.internal.example.com', auth: 'any' },
  { ...route, name: 'metrics', path: '/metrics', host: '*.example.com', auth: 'deny' },
]

t.test(
  'no spelling of a host gets from the name that is protected to the wildcard that is not',
  async (t) => {
    const { backend, gateway } = await startBoth(t, { config: { routes } })
    const statusOf = async (host: string, path = '/') =>
      (await rawRequest(t, gateway.url, [`GET ${path} HTTP/1.1`, `Host: ${host}`])).status
    for (const host of [
      'admin.example.com',
      'ADMIN.Example.COM',
      'admin.example.com:80',
      'a.internal.example.com',
      'b.a.internal.example.com',
    ])
      t.equal(await statusOf(host), 401, host)
    for (const host of [
      'admin.example.com.',
      'admin%2eexample.com',
      '%61dmin.example.com',
      'admin.example.com%2e',
      'a.internal.example.com.',
      'a%2einternal.example.com',
      '.admin.example.com',
      'x..example.com',
      'admin.example.com,x.example.com',
      'x@admin.example.com',
      'x;admin.example.com',
      '*.example.com',
      'a b.example.com',
    ])
      t.equal(await statusOf(host), 400, host)
    for (const host of [
      'example.com',
      'xexample.com',
      'a.example.com.evil.test',
      'example.com.',
      '*.example.org',
      'a,example.com',
    ])
      t.equal(await statusOf(host), 404, host)
    t.equal(backend.seen.length, 0)
    for (const host of ['a.example.com', 'a.b.example.com', 'internal.example.com'])
      t.equal(await statusOf(host), 200, host)
    t.equal(await statusOf('a.example.com', '/metrics'), 403)
    t.equal(await statusOf('a.example.com', '/Metrics'), 400)
    t.equal(await statusOf('admin.example.com', '/metrics'), 403, 'the longest path wins')
  },
)

t.test('the same over HTTP/2', async (t) => {
  const { backend, gateway } = await startBoth(t, { config: { routes } })
  const client = await connectHttp2(t, gateway.url)
  const statusOf = async (authority: string) =>
    (await askHttp2(client, '/', { headers: { ':authority': authority } })).status
  t.equal(await statusOf('ADMIN.example.com'), 401)
  for (const host of ['admin.example.com.', 'admin%2eexample.com']) t.equal(await statusOf(host), 400, host)
  t.equal(await statusOf('example.com'), 404)
  t.equal(backend.seen.length, 0)
  t.equal(await statusOf('a.example.com'), 200)
})

t.test('a bucket that has a host by a wildcard is decided about there too', async (t) => {
  const s3 = { name: 's3', path: '/', host: 's3.example.com', upstream: 'backend', auth: 'any' }
  const buckets = { ...s3, name: 'buckets', host: '*.s3.example.com', roles: ['Admin'] }
  const { gateway, backend } = await startBoth(t, { config: { routes: [s3, buckets] } })
  const { secretKey } = await gateway.createAccount()
  const response = await rawRequest(t, gateway.url, [
    'PUT /mine/x HTTP/1.1',
    'Host: s3.example.com',
    `SecretKey: ${secretKey}`,
    'X-Amz-Copy-Source: /others/x',
    'Content-Length: 0',
  ])
  assertProblem(t, response, { status: 403, code: 'destination-forbidden' })
  t.equal(backend.seen.length, 0)
})
