import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { startBackend } from '../setup/backend.ts'
import { startGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { ask } from './support/ask.ts'
import { askForReload, reloadWith, taken } from './support/reload.ts'

type Options = Readonly<Record<string, unknown>>

async function start(t: Test, options: Options) {
  const backend = await startBackend(t)
  const upstreams = (more: Options) => ({ backend: { targets: [{ url: backend.url }], ...more } })
  const gateway = await startGateway(t, {
    config: {
      upstreams: upstreams(options),
      routes: [
        { name: 'public', path: '/public', upstream: 'backend', auth: 'none' },
        { name: 'key', path: '/key', upstream: 'backend', auth: 'secretKey' },
        { name: 'passing', path: '/passing', upstream: 'backend', auth: 'any', forwardCredentials: true },
      ],
    },
  })
  const { secretKey, account } = await gateway.createAccount()
  return { backend, upstreams, gateway, key: `SecretKey: ${secretKey}`, accountId: account.id }
}

t.test(
  'a backend gets the fields that are set for it, before the identity, and none that is removed',
  async (t) => {
    const headers = { set: { 'X-Fixed': 'one two', Accept: 'text/plain' }, remove: ['Cookie', 'User-Agent'] }
    const { backend, gateway, key, accountId } = await start(t, { headers })
    const sent = ['Accept: a', 'accept: b', 'Cookie: a=1', 'User-Agent: me', 'X-Other: c', 'X-Fixed: z']
    t.equal((await ask(t, gateway.url, 'GET /key', [key, ...sent])).status, 200)
    const { rawHeaders } = backend.last()
    const lines = rawHeaders.flatMap((name, index) =>
      index % 2 === 0 ? [`${name}: ${rawHeaders[index + 1]}`] : [],
    )
    t.strictSame(
      lines.map((line) => line.replace(/^(X-Request-Id): .*/, '$1')),
      [
        'Host: gateway.test',
        'X-Other: c',
        'X-Fixed: one two',
        'Accept: text/plain',
        'X-Forwarded-Proto: http',
        'X-Forwarded-Host: gateway.test',
        'X-Forwarded-For: 127.0.0.1',
        'X-Request-Id',
        `X-User-Id: ${accountId}`,
        'X-User-Role: User',
      ],
    )
  },
)

t.test('Authorization that is set wins over that of the client, forwarded or anonymous', async (t) => {
  const headers = { set: { Authorization: 'Basic backend', SecretKey: 'of-the-backend' } }
  const { backend, gateway, key } = await start(t, { headers })
  for (const [line, sent] of [
    ['GET /public', ['Authorization: Basic client', key]],
    ['GET /key', [key]],
    ['GET /passing', [key]],
    ['OPTIONS /passing', [key]],
  ] as const) {
    t.equal((await ask(t, gateway.url, line, sent)).status, 200, line)
    const { authorization, secretkey } = backend.last().headers
    t.strictSame([authorization, secretkey], ['Basic backend', 'of-the-backend'], line)
  }
})

t.test("Cookie that is set replaces the client's cookies, the refresh token too", async (t) => {
  const { backend, gateway, key } = await start(t, { headers: { set: { Cookie: 'backend=1' } } })
  await ask(t, gateway.url, 'GET /key', [key, 'Cookie: refreshToken=grt_x; a=b', 'Cookie: c=d'])
  t.equal(backend.last().headers.cookie, 'backend=1')
})

t.test('a reload takes a secret that has changed in its file, and nothing else in the config', async (t) => {
  const { backend, upstreams, gateway, key } = await start(t, {})
  const file = join(dirname(gateway.configFile), 'backend.token')
  const seen = async () => {
    t.equal((await ask(t, gateway.url, 'GET /key', [key])).status, 200)
    return backend.last().headers.authorization
  }
  writeFileSync(file, 'Bearer first\n')
  const headers = { set: { Authorization: { file: 'backend.token' } } }
  t.match(await reloadWith(gateway, { upstreams: upstreams({ headers }) }), taken)
  t.equal(await seen(), 'Bearer first')
  writeFileSync(file, 'Bearer second\n')
  t.equal(await seen(), 'Bearer first', 'it is read by a reload only')
  t.match(await askForReload(gateway.opsUrl), taken)
  t.equal(await seen(), 'Bearer second')

  writeFileSync(file, 'Bearer third\nX-User-Id: root\n')
  const refused = await askForReload(gateway.opsUrl)
  t.match(refused, { code: 422, status: 'refused', problems: [/must not contain a line break$/] })
  t.equal(await seen(), 'Bearer second', 'the previous config stays')
  t.notMatch(JSON.stringify([refused, gateway.logLines]), /third|second|first/)

  t.match(await reloadWith(gateway, { upstreams: upstreams({}) }), taken)
  t.equal(await seen(), undefined)
})

t.test('health checks get the fields that are set', async (t) => {
  const health = { active: { path: '/healthz', interval: '20ms' } }
  const headers = { set: { Authorization: 'Bearer probe', 'user-agent': 'probe/1' }, remove: ['Accept'] }
  const { backend } = await start(t, { health, headers })
  const check = await until('a check', () => backend.seen.find(({ url }) => url === '/healthz'))
  t.strictSame(check.rawHeaders, [
    'Host',
    new URL(backend.url).host,
    'Connection',
    'close',
    'Authorization',
    'Bearer probe',
    'user-agent',
    'probe/1',
  ])
})
