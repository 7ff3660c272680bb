import t from 'tap'
import { ask } from '../gateway/support/ask.ts'
import { startBackend } from '../setup/backend.ts'
import { startBoth } from '../setup/both.ts'
import { isApp, startGateway } from '../setup/gateway.ts'

const names = [
  'X-Forwarded-For',
  'X-Forwarded-Proto',
  'X-Forwarded-Host',
  'X-Forwarded-Port',
  'X-Forwarded-Prefix',
  'X-Forwarded-Uri',
  'X-Forwarded-Path',
  'X-Forwarded-Method',
  'X-Forwarded-User',
  'X-Forwarded-Email',
  'X-Forwarded-Server',
  'X-Forwarded-Scheme',
  'X-Forwarded-Ssl',
  'X-Forwarded-Client-Cert',
  'X-Forwarded',
  'Forwarded',
  'X-Real-IP',
  'X-Script-Name',
  'X-Sendfile-Type',
  'X-Accel-Mapping',
  'X-Original-URL',
  'X-Rewrite-URL',
  'X-HTTP-Path-Override',
  'X-Request-Id',
]

const aliases = (name: string) => [
  name,
  name.toUpperCase(),
  name.toLowerCase(),
  name.replaceAll('-', '_'),
  name.replaceAll('-', '.'),
]

t.test('no spelling of a forwarding header passes from a client that is no trusted proxy', async (t) => {
  const { backend, gateway } = await startBoth(t)
  for (const name of names) {
    for (const alias of aliases(name)) {
      await ask(t, gateway.url, 'GET /public', [`${alias}: forged`, `${alias}: forged`])
      t.notMatch(JSON.stringify(backend.last().rawHeaders), 'forged', alias)
    }
  }
})

t.test('other spellings of forwarding headers are dropped even from a trusted proxy', async (t) => {
  const { backend, gateway } = await startBoth(t, { config: { trustedProxies: ['127.0.0.1'] } })
  for (const name of ['X-Forwarded-For', 'X-Forwarded-Proto', 'X-Forwarded-Host', 'X-Request-Id']) {
    const others = aliases(name).filter((alias) => alias.toLowerCase() !== name.toLowerCase())
    await ask(
      t,
      gateway.url,
      'GET /public',
      others.map((alias) => `${alias}: forged`),
    )
    t.notMatch(JSON.stringify(backend.last().rawHeaders), 'forged', name)
  }
})

t.test('headers that override the path are dropped even from a trusted proxy', async (t) => {
  const { backend, gateway } = await startBoth(t, { config: { trustedProxies: ['127.0.0.1'] } })
  for (const alias of [
    'X-Original-URL',
    'X-Rewrite-URL',
    'X-HTTP-Path-Override',
    'X-Original-Url',
    'X-OriginalURL',
  ].flatMap(aliases)) {
    await ask(t, gateway.url, 'GET /public', [`${alias}: /forged`, `${alias}: /forged`])
    t.notMatch(JSON.stringify(backend.last().rawHeaders), 'forged', alias)
  }
})

t.test('no forwarding header leads a request to another route, method or host', async (t) => {
  const backend = await startBackend(t)
  const route = { upstream: 'backend' }
  const inner = {
    ...route,
    name: 'inner',
    path: '/public',
    host: 'inner.test',
    auth: 'secretKey',
    stripPrefix: true,
  }
  const routes = [
    { ...route, name: 'public', path: '/public', auth: 'none' },
    { ...route, name: 'admin', path: '/admin', auth: 'any', roles: ['Admin'] },
    ...(isApp() ? [] : [inner]),
  ]
  for (const trustedProxies of [[], ['127.0.0.1']]) {
    const gateway = await startGateway(t, { backend: backend.url, config: { routes, trustedProxies } })
    for (const headers of [
      [
        'X-Original-URL: /admin',
        'X-Rewrite-URL: /admin',
        'X-Forwarded-Uri: /admin',
        'X-Forwarded-Prefix: /admin',
      ],
      ['X-Forwarded-Host: inner.test', 'Forwarded: host=inner.test', 'X-Host: inner.test'],
      ['X-HTTP-Method-Override: DELETE', 'X-Forwarded-Method: DELETE', 'X-Method-Override: TRACE'],
    ]) {
      const response = await ask(t, gateway.url, 'GET /public', headers)
      t.equal(response.status, 200)
      t.match(backend.last(), { method: 'GET', url: '/public' })
      t.equal((await ask(t, gateway.url, 'GET /admin', headers)).status, 401)
      t.equal((await ask(t, gateway.url, 'GET /admin', [...headers, 'X-Original-URL: /public'])).status, 401)
    }
  }
})

t.test('a client cannot change its address by X-Forwarded-For', async (t) => {
  const { backend, gateway } = await startBoth(t, { config: { trustedProxies: ['10.0.0.0/8'] } })
  for (let turn = 0; turn < 10; turn++) {
    await ask(t, gateway.url, 'GET /public', [`X-Forwarded-For: 10.0.0.${turn}, 203.0.113.${turn}`])
    t.equal(backend.last().headers['x-forwarded-for'], '127.0.0.1')
  }
  // An app logs its requests itself.
  if (isApp()) return
  await gateway.shutDown()
  const lines = gateway.logLines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request')
  t.equal(lines.length, 10)
  t.strictSame([...new Set(lines.map(({ client }) => client))], ['127.0.0.1'])
})
