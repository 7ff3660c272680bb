import t, { type Test } from 'tap'
import { ask } from '../gateway/support/ask.ts'
import { codeOf } from '../gateway/support/problem.ts'
import { openWebSocket, record, startWebSocketBackend, upgradeLines } from '../gateway/support/web-socket.ts'
import { ask as askHttp2, connectHttp2 } from '../http/h2/ask.ts'
import { startBoth } from '../setup/both.ts'
import { isApp, notInApp, startGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'

const accept = ['SecretKey', 'X-Api-Key', 'bearer', 'basic']
const route = { upstream: 'backend', authorization: 'backend' }
const routes = [
  { ...route, name: 'none', path: '/none', auth: 'none' },
  { ...route, name: 'optional', path: '/optional', auth: 'optional' },
  { ...route, name: 'key', path: '/key', auth: 'secretKey' },
  { ...route, name: 'any', path: '/any', auth: 'any' },
  { ...route, name: 'admin', path: '/admin', auth: 'any', roles: ['Admin'] },
  { name: 'ours', path: '/ours', upstream: 'backend', auth: 'any' },
]
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
/** What is the backend's own, whatever it looks like to a gateway that takes keys in Authorization. */
const others = [
  'Bearer sk-proj-0123456789abcdef',
  `Bearer gsk_${'a'.repeat(52)}`,
  'Bearer a.b.c',
  'Bearer eyJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJzdXBhYmFzZSJ9.c2lnbmF0dXJl',
  'Bearer',
  basic('ada:lovelace'),
  'Basic ???',
  'AWS4-HMAC-SHA256 Credential=A/20261123/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0',
  'token abc',
]

async function start(t: Test) {
  const config = { routes, keys: { sealingKey: { file: 'sealing.key' }, accept } }
  const { backend, gateway } = await startBoth(t, { config })
  const user = await gateway.createAccount()
  const { JwtToken, RefreshToken } = await gateway.tokens(user)
  const misplaced = [
    `Bearer ${user.secretKey}`,
    `bearer ${user.apiKey}`,
    `Bearer ${JwtToken}`,
    `Bearer ${RefreshToken}`,
    `Bearer ${user.secretKey.slice(0, -2)}`,
    `token ${user.secretKey}`,
    user.secretKey,
    basic(`git:${user.secretKey}`),
    basic(`${user.secretKey}:`),
    basic(`oauth2:${JwtToken}`),
  ]
  return { backend, gateway, user, misplaced }
}

t.test("an Authorization that is the backend's reaches it as it came, beside a key", async (t) => {
  const { backend, gateway, user } = await start(t)
  for (const authorization of others)
    for (const carrier of ['SecretKey', 'X-Api-Key'])
      for (const path of ['/key', '/any', '/optional']) {
        const sent = [`${carrier}: ${user.secretKey}`, `Authorization: ${authorization}`]
        const about = `${path} ${sent[1]}`
        t.equal((await ask(t, gateway.url, `GET ${path}`, sent)).status, 200, about)
        const { headers } = backend.last()
        t.equal(headers['x-user-id'], user.account.id, about)
        t.equal(headers.authorization, authorization, about)
        t.notOk(carrier.toLowerCase() in headers, `${about}: the key stays here`)
      }
})

t.test('it says nothing of the caller, on no kind of route', async (t) => {
  const { backend, gateway } = await start(t)
  for (const authorization of others) {
    const sent = [`Authorization: ${authorization}`]
    for (const path of ['/key', '/any', '/admin']) {
      const response = await ask(t, gateway.url, `GET ${path}`, sent)
      t.equal(codeOf(response), 'credentials-missing', `${path} ${authorization}`)
      t.equal(
        response.headers['www-authenticate'],
        'SecretKey realm="gatehouse"',
        'no scheme of Authorization',
      )
      t.match(response.json().detail, /header SecretKey or in the header X-Api-Key\. Authorization is for/)
    }
    for (const path of ['/none', '/optional']) {
      t.equal((await ask(t, gateway.url, `GET ${path}`, sent)).status, 200, `${path} ${authorization}`)
      const { headers } = backend.last()
      t.equal(headers.authorization, authorization)
      t.notOk('x-user-id' in headers, 'anonymous')
    }
  }
})

t.test('two Authorization fields are no ambiguity: both are the backend’s', async (t) => {
  const { backend, gateway, user } = await start(t)
  const sent = [`SecretKey: ${user.secretKey}`, 'Authorization: Bearer one', 'Authorization: Bearer two']
  t.equal((await ask(t, gateway.url, 'GET /any', sent)).status, 200)
  const { rawHeaders } = backend.last()
  t.strictSame(
    rawHeaders.filter((_, index) => rawHeaders[index - 1] === 'Authorization'),
    ['Bearer one', 'Bearer two'],
  )
})

t.test('two keys are ambiguous there too', async (t) => {
  const { gateway, user } = await start(t)
  const sent = [`SecretKey: ${user.secretKey}`, `X-Api-Key: ${user.secretKey}`, 'Authorization: Bearer one']
  t.equal(codeOf(await ask(t, gateway.url, 'GET /any', sent)), 'credentials-ambiguous')
})

t.test('what is visibly ours in it is refused on every kind of route, and never forwarded', async (t) => {
  const { backend, gateway, user, misplaced } = await start(t)
  const key = `SecretKey: ${user.secretKey}`
  for (const authorization of misplaced) {
    const field = `Authorization: ${authorization}`
    for (const path of ['/none', '/optional', '/key', '/any', '/admin'])
      for (const sent of [
        [field],
        [key, field],
        [field, 'Authorization: Bearer x'],
        ['Authorization: x', field],
      ]) {
        const response = await ask(t, gateway.url, `GET ${path}`, sent)
        t.equal(response.status, 400, `${path} ${sent}`)
        t.equal(codeOf(response), 'credentials-misplaced')
        t.notOk(response.body.includes(user.secretKey), 'nor told')
      }
  }
  t.equal(backend.seen.length, 0)
  const lines = gateway.logLines.join('')
  if (!isApp()) t.match(lines, 'credentials-misplaced')
  for (const secret of misplaced) t.notOk(lines.includes(secret), 'nor logged')
})

t.test('a key that was reset is refused within 500 ms, whatever Authorization says', async (t) => {
  const { gateway, user } = await start(t)
  const sent = [`SecretKey: ${user.secretKey}`, 'Authorization: Bearer provider']
  t.equal((await ask(t, gateway.url, 'GET /key', sent)).status, 200)
  await gateway.operate(({ defaultKeys }) => defaultKeys.resetSecretKey(user.account.id, 0))
  await until(
    'it is refused',
    async () => (await ask(t, gateway.url, 'GET /key', sent)).status === 401 || undefined,
    500,
  )
})

t.test('the role, a wrong key and a disabled account are decided as elsewhere', async (t) => {
  const { backend, gateway, user } = await start(t)
  const other = 'Authorization: Bearer provider'
  t.equal(
    codeOf(await ask(t, gateway.url, 'GET /admin', [`SecretKey: ${user.secretKey}`, other])),
    'role-forbidden',
  )
  t.equal(codeOf(await ask(t, gateway.url, 'GET /key', ['SecretKey: wrong', other])), 'secret-key-invalid')
  t.equal(
    codeOf(await ask(t, gateway.url, 'GET /optional', ['SecretKey: wrong', other])),
    'secret-key-invalid',
  )
  await gateway.operate(({ accounts }) => accounts.update(user.account.id, { isDisabled: true }))
  // By a route that forwards nothing of this caller.
  await until('it is known to be disabled', async () => {
    const answer = await ask(t, gateway.url, 'GET /admin', [`SecretKey: ${user.secretKey}`, other])
    return codeOf(answer) === 'account-disabled'
  })
  t.equal(
    codeOf(await ask(t, gateway.url, 'GET /key', [`SecretKey: ${user.secretKey}`, other])),
    'account-disabled',
  )
  t.equal(backend.seen.length, 0)
})

t.test(
  'a second target on a route that reads Authorization is decided by what that would read',
  { skip: notInApp('each prefix of an app is a backend of its own') },
  async (t) => {
    const { backend, gateway, user } = await start(t)
    const move = (from: string, to: string, authorization: string) =>
      ask(t, gateway.url, `MOVE ${from}`, [
        `SecretKey: ${user.secretKey}`,
        `Authorization: ${authorization}`,
        `Destination: ${to}`,
      ])
    t.equal((await move('/key/a', '/any/b', 'Bearer provider')).status, 200)
    t.equal(backend.last().headers.authorization, 'Bearer provider')
    t.equal(codeOf(await move('/key/a', '/ours/b', 'Bearer provider')), 'destination-forbidden')
    t.equal(codeOf(await move('/key/a', '/admin/b', 'Bearer provider')), 'destination-forbidden')
  },
)

t.test('a repeated head gets the same answer each time, on this route and on another', async (t) => {
  const { backend, gateway, user } = await start(t)
  const headers = { SecretKey: user.secretKey, Authorization: 'Bearer sk-proj-0123456789abcdef' }
  for (let turn = 0; turn < 4; turn++) {
    t.equal((await fetch(`${gateway.url}/any`, { headers })).status, 200)
    t.equal(backend.last().headers.authorization, headers.Authorization)
    t.equal((await fetch(`${gateway.url}/ours`, { headers })).status, 400)
    const wrong = { ...headers, Authorization: `Bearer ${user.secretKey}` }
    t.equal((await fetch(`${gateway.url}/any`, { headers: wrong })).status, 400)
  }
  t.equal(backend.seen.length, 4)
})

t.test('over HTTP/2 the same', { skip: notInApp('apps have HTTP/1.1') }, async (t) => {
  const { backend, gateway, user, misplaced } = await start(t)
  const session = await connectHttp2(t, gateway.url)
  const sent = { secretkey: user.secretKey, authorization: 'Bearer provider' }
  t.equal((await askHttp2(session, '/any', { headers: sent })).status, 200)
  t.match(backend.last().headers, { authorization: 'Bearer provider', 'x-user-id': user.account.id })
  for (const authorization of misplaced)
    t.equal(
      (await askHttp2(session, '/any', { headers: { ...sent, authorization } })).status,
      400,
      authorization,
    )
  t.equal(backend.seen.length, 1)
})

t.test('an upgrade the same, and it is closed once its key has ended', async (t) => {
  const backend = await startWebSocketBackend(t)
  const config = {
    keys: { sealingKey: { file: 'sealing.key' }, accept },
    routes: [{ ...route, name: 'ws', path: '/ws', auth: 'any', websocket: true }],
  }
  const gateway = await startGateway(t, { backend: backend.url, config })
  const user = await gateway.createAccount()
  const headers = { 'X-Api-Key': user.secretKey, Authorization: 'Bearer provider' }
  const seen = record(await openWebSocket(t, `${gateway.url}/ws`, { headers }))
  const [upgrade] = await until('the backend has it', () =>
    backend.upgrades.length > 0 ? backend.upgrades : undefined,
  )
  t.match(upgrade?.headers, { authorization: 'Bearer provider', 'x-user-id': user.account.id })
  const wrong = [...upgradeLines, `Authorization: Bearer ${user.secretKey}`]
  t.equal((await ask(t, gateway.url, 'GET /ws', wrong)).status, 400)
  t.equal(backend.upgrades.length, 1)
  await gateway.operate(({ defaultKeys }) => defaultKeys.resetSecretKey(user.account.id, 0))
  await until('it is closed', () => seen.closes.length > 0 || undefined, 5_000)
  t.match(seen.closes, [{ code: 4001 }])
})

t.test(
  'the access cookie counts beside it, and a token of ours in it does not',
  { skip: notInApp('an app takes no access cookie') },
  async (t) => {
    const browser = { cookie: true, signIn: true }
    const config = {
      accessCookie: { enabled: true },
      routes: [
        { ...route, name: 'app', path: '/app', auth: 'any', browser },
        { ...route, name: 'cookies', path: '/cookies', auth: 'bearer', browser: { cookie: true } },
      ],
    }
    const { backend, gateway } = await startBoth(t, { config })
    const user = await gateway.createAccount()
    const { JwtToken } = await gateway.tokens(user)
    const cookie = `Cookie: accessToken=${JwtToken}`
    const page = ['Sec-Fetch-Site: same-origin', 'Origin: http://gateway.test']
    for (const path of ['/app', '/cookies'])
      for (const line of [`GET ${path}`, `POST ${path}`]) {
        const sent = [cookie, ...page, 'Authorization: Bearer of-the-page']
        t.equal((await ask(t, gateway.url, line, sent)).status, 200, line)
        t.match(backend.last().headers, { authorization: 'Bearer of-the-page', 'x-user-id': user.account.id })
        t.notOk(backend.last().headers.cookie, 'the cookie stays here')
      }
    const seen = backend.seen.length
    const foreign = [cookie, 'Sec-Fetch-Site: cross-site', 'Authorization: Bearer of-the-page']
    t.equal((await ask(t, gateway.url, 'GET /app', foreign)).status, 401, 'from another site')
    const both = [cookie, ...page, `Authorization: Bearer ${JwtToken}`]
    t.equal(codeOf(await ask(t, gateway.url, 'GET /app', both)), 'credentials-misplaced')
    const visit = [
      'Sec-Fetch-Mode: navigate',
      'Sec-Fetch-Dest: document',
      'Authorization: Bearer of-the-page',
    ]
    t.equal((await ask(t, gateway.url, 'GET /app', visit)).status, 303, 'a page visit goes to the sign-in')
    const keyed = await ask(t, gateway.url, 'GET /cookies', [`SecretKey: ${user.secretKey}`])
    t.equal(codeOf(keyed), 'scheme-not-accepted')
    t.match(keyed.json().detail, /^Sign in: this path takes the access cookie/)
    t.equal(keyed.headers['www-authenticate'], 'Bearer realm="gatehouse"')
    t.equal(backend.seen.length, seen)
  },
)
