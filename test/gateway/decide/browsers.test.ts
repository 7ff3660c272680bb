import t from 'tap'
import { startGateway } from '../../setup/gateway.ts'
import { ask } from '../support/ask.ts'

t.test(
  'other proxies are told of the access cookie by the same rules, and where a visit has to sign in',
  async (t) => {
    const browser = { cookie: true, signIn: true }
    const gateway = await startGateway(t, {
      config: {
        decide: { port: 0 },
        trustedProxies: ['127.0.0.1'],
        accessCookie: { enabled: true },
        routes: [{ name: 'app', path: '/app', auth: 'any', browser }],
      },
    })
    const { account } = await gateway.createAccount()
    const { JwtToken } = await gateway.tokens(await gateway.createAccount())
    const described = ['X-Forwarded-Method: GET', 'X-Forwarded-Host: app.test', 'X-Forwarded-Proto: https']
    const decide = (query: string, headers: readonly string[]) =>
      ask(t, gateway.decideUrl, `GET /decide${query}`, [
        ...described,
        'X-Forwarded-Uri: /app/x?y=1',
        ...headers,
      ])
    const cookie = `Cookie: accessToken=${JwtToken}`

    const allowed = await decide('', [cookie, 'Sec-Fetch-Site: same-origin'])
    t.equal(allowed.status, 200)
    t.ok(allowed.headers['x-user-id'] && allowed.headers['x-user-id'] !== account.id)
    t.equal((await decide('', [cookie, 'Origin: https://app.test'])).status, 200)
    t.equal((await decide('', [cookie, 'Sec-Fetch-Site: cross-site'])).status, 401)
    t.equal((await decide('', [cookie, cookie, 'Sec-Fetch-Site: same-origin'])).status, 400)
    const socket = ['Sec-WebSocket-Key: x', 'Origin: https://evil.example']
    t.equal((await decide('', [cookie, ...socket])).status, 401, 'proxies take the Upgrade off')

    const visit = ['Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: document', 'Sec-Fetch-Site: none']
    const location = '/portal/continue?to=%2Fapp%2Fx%3Fy%3D1'
    t.match(await decide('', visit), { status: 303, headers: { location, 'cache-control': 'no-store' } })
    t.match(await decide('?deny=403', visit), { status: 401, headers: { location } })
    t.equal((await decide('', [])).headers.location, undefined)
    await gateway.shutDown()
    const logged = gateway.logLines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request')
    t.strictSame(
      logged.slice(-3).map(({ status }) => status),
      [303, 303, 401],
      'as decided, not as sent',
    )
  },
)

t.test('other proxies are told to refuse a key that a browser adds for a foreign page', async (t) => {
  const gateway = await startGateway(t, {
    config: {
      decide: { port: 0 },
      trustedProxies: ['127.0.0.1'],
      keys: { sealingKey: { file: 'sealing.key' }, accept: ['basic'] },
      routes: [{ name: 'app', path: '/app', auth: 'secretKey' }],
    },
  })
  const { secretKey } = await gateway.createAccount()
  const basic = `Authorization: Basic ${Buffer.from(`x:${secretKey}`).toString('base64')}`
  const decide = (method: string, query: string, headers: readonly string[]) =>
    ask(t, gateway.decideUrl, `GET /decide${query}`, [
      ...[`X-Forwarded-Method: ${method}`, 'X-Forwarded-Host: app.test', 'X-Forwarded-Proto: https'],
      ...['X-Forwarded-Uri: /app/x', basic, ...headers],
    ])
  const foreign = ['Origin: https://evil.example', 'Sec-Fetch-Site: cross-site']

  t.match((await decide('POST', '', foreign)).json(), { status: 403, code: 'cross-site-request' })
  t.equal((await decide('POST', '?deny=403', foreign)).status, 403)
  t.equal((await decide('GET', '', foreign)).status, 200, 'a link')
  t.equal((await decide('POST', '', ['Origin: https://app.test'])).status, 200, 'the own page')
  t.equal((await decide('POST', '', [])).status, 200, 'a program')
})
