import t from 'tap'
import { askDecision, startDecideGateway } from '../gateway/decide/support.ts'
import { ask } from '../gateway/support/ask.ts'
import { ask as askHttp2, connectHttp2 } from '../http/h2/ask.ts'
import { startBackend } from '../setup/backend.ts'
import { startBoth } from '../setup/both.ts'
import { rawRequest } from '../setup/raw-client.ts'

/** Flask, Django and others take a method in any letters; nginx and Apache a host with a dot at its end. */
const routes = [
  { name: 'site', path: '/', upstream: 'backend', auth: 'none' },
  { name: 'orders', path: '/orders', upstream: 'backend', auth: 'any' },
  {
    name: 'orders-delete',
    path: '/orders',
    methods: ['DELETE'],
    upstream: 'backend',
    auth: 'any',
    roles: ['Admin'],
  },
  { name: 'admin', host: 'admin.example', path: '/', upstream: 'backend', auth: 'any', roles: ['Admin'] },
]

t.test('no spelling of a method leads past the route that names it', async (t) => {
  const { backend, gateway } = await startBoth(t, { config: { routes } })
  const { secretKey } = await gateway.createAccount()
  const lines = [`SecretKey: ${secretKey}`]
  t.equal((await ask(t, gateway.url, 'DELETE /orders/7', lines)).status, 403)
  const session = await connectHttp2(t, gateway.url)
  for (const method of ['delete', 'Delete', 'deletE']) {
    const response = await ask(t, gateway.url, `${method} /orders/7`, lines)
    t.equal(response.status, 405, method)
    t.match(response.headers.allow, 'DELETE')
    const headers = { ':method': method, secretkey: secretKey }
    t.equal((await askHttp2(session, '/orders/7', { headers })).status, 405, `${method}, HTTP/2`)
  }
  for (const method of ['trace', 'Connect'])
    t.equal((await ask(t, gateway.url, `${method} /x`)).status, 405, method)
  t.strictSame(backend.seen, [])
  t.equal((await ask(t, gateway.url, 'GET /orders/7', lines)).status, 200)
})

t.test('no spelling of a host leads past its routes', async (t) => {
  const { backend, gateway } = await startBoth(t, { config: { routes } })
  const visit = (host: string) => rawRequest(t, gateway.url, ['GET /secret HTTP/1.1', `Host: ${host}`])
  for (const host of ['admin.example', 'ADMIN.example:80']) t.equal((await visit(host)).status, 401, host)
  for (const host of [
    'admin.example.',
    'Admin.Example.:80',
    'admin.example..',
    '%61dmin.example',
    'admin%2Eexample',
  ]) {
    const response = await visit(host)
    t.equal(response.status, 400, host)
    t.match(response.json(), { code: 'request-invalid', errors: [{ field: 'Host' }] })
  }
  t.strictSame(backend.seen, [])
  t.equal((await visit('other.example.')).status, 200)
})

t.test('nor in what another proxy describes', async (t) => {
  const backend = await startBackend(t)
  const gateway = await startDecideGateway(t, { backend: backend.url, config: { routes } })
  const { secretKey } = await gateway.createAccount()
  const orders = { uri: '/orders/7', headers: [`SecretKey: ${secretKey}`] }
  for (const [asked, status] of [
    [orders, 200],
    [{ ...orders, method: 'delete' }, 405],
    [{ host: 'admin.example.' }, 400],
    [{ host: 'other.example.' }, 200],
  ] as const)
    t.equal((await askDecision(t, gateway, asked)).status, status, JSON.stringify(asked))
})
