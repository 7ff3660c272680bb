import t from 'tap'
import { ask } from '../gateway/support/ask.ts'
import { startWebSocketBackend, upgradeLines } from '../gateway/support/web-socket.ts'
import { startBoth } from '../setup/both.ts'
import { startGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'

/** All that the gateway says itself, in every way of naming it. */
const ours = [
  'X-User-Id',
  'X-User-Role',
  'X-Forwarded-For',
  'X-Forwarded-Proto',
  'X-Forwarded-Host',
  'X-Request-Id',
  'Host',
  'Content-Length',
  'Transfer-Encoding',
]

const spellings = [
  (name: string) => [`Connection: ${name}`],
  (name: string) => [`Connection: close, ${name}`],
  (name: string) => [`Connection: ${name.toLowerCase()},keep-alive`],
  (name: string) => ['Connection: keep-alive', `Connection: ${name.toUpperCase()}`],
  (name: string) => [`connection:\t ,,${name} ,`],
  (name: string) => [`Proxy-Connection: ${name}`],
]

t.test('a name in Connection removes no header that the gateway sets', async (t) => {
  const { backend, gateway } = await startBoth(t)
  const { account, secretKey } = await gateway.createAccount()
  for (const name of ours) {
    for (const spell of spellings) {
      const headers = [...spell(name), `SecretKey: ${secretKey}`, 'X-User-Id: root']
      const response = await ask(t, gateway.url, 'POST /key', headers, 'body')
      t.equal(response.status, 200, String(headers[0]))
      t.match(backend.last(), {
        body: 'body',
        headers: {
          'x-user-id': account.id,
          'x-user-role': 'User',
          'x-forwarded-for': '127.0.0.1',
          'x-forwarded-proto': 'http',
          'x-forwarded-host': 'gateway.test',
          'x-request-id': /^[\da-f-]{36}$/,
          host: 'gateway.test',
          'content-length': '4',
        },
      })
      t.notMatch(backend.last().headers.connection, /user|forwarded|request/i)
    }
  }
})

t.test('a credential named in Connection is checked all the same', async (t) => {
  const { backend, gateway } = await startBoth(t)
  const { account, secretKey } = await gateway.createAccount()
  const { JwtToken } = await gateway.tokens(await gateway.createAccount())
  const [key, token] = [`SecretKey: ${secretKey}`, `Authorization: Bearer ${JwtToken}`]
  const hidden = ['Connection: SecretKey, Authorization']
  t.equal((await ask(t, gateway.url, 'GET /any', [...hidden, key])).status, 200)
  t.equal(backend.last().headers['x-user-id'], account.id)
  for (const headers of [
    [key, token],
    [key, key],
    [token, token],
  ])
    t.equal(
      (await ask(t, gateway.url, 'GET /any', [...hidden, ...headers])).json().code,
      'credentials-ambiguous',
    )
  const wrong = await ask(t, gateway.url, 'GET /optional', [...hidden, 'SecretKey: x'])
  t.equal(wrong.json().code, 'secret-key-invalid', 'nor does it make anybody anonymous')
})

t.test("a name in an upgrade's Connection removes no header that the gateway sets", async (t) => {
  const backend = await startWebSocketBackend(t)
  const routes = [{ name: 'ws', path: '/ws', upstream: 'backend', auth: 'secretKey', websocket: true }]
  const gateway = await startGateway(t, { backend: backend.url, config: { routes } })
  const { account, secretKey } = await gateway.createAccount()
  const [, ...lines] = upgradeLines
  let upgrades = 0
  for (const name of ours) {
    for (const connection of [
      [`Connection: Upgrade, ${name}`],
      [`Connection: ${name}`, 'Connection: upgrade'],
      [`Connection: close,${name},Upgrade`],
    ]) {
      const headers = [
        ...connection,
        ...lines,
        `SecretKey: ${secretKey}`,
        'X-User-Id: root',
        'X_User_Role: Admin',
      ]
      const response = await ask(t, gateway.url, 'GET /ws', headers)
      t.equal(response.status, 101, connection.join())
      upgrades++
      // An app accepts a WebSocket before its backend has.
      await until('the backend has it', () => backend.upgrades.length === upgrades)
      const seen = backend.upgrades.at(-1)?.headers ?? {}
      t.match(seen, { 'x-user-id': account.id, 'x-user-role': 'User', host: 'gateway.test' })
      t.equal(seen.connection?.toLowerCase(), 'upgrade')
      t.notOk('x_user_role' in seen)
    }
  }
})

t.test("names in a backend's Connection remove no framing towards the client", async (t) => {
  const gateway = await startBoth(t, {
    answer: (_request, response) => {
      response.setHeader('Connection', 'keep-alive, Content-Length, X-Inner, Date')
      response.setHeader('X-Inner', '1')
      response.end('whole')
    },
  })
  const response = await ask(t, gateway.url, 'GET /public')
  t.match(response, { status: 200, body: 'whole', headers: { 'content-length': '5' } })
  t.notOk('x-inner' in response.headers)
})
