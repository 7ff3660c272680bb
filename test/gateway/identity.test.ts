import t from 'tap'
import { startBoth } from '../setup/both.ts'
import { ask } from './support/ask.ts'

const names = {
  id: 'X-Account',
  role: 'X-Account-Role',
  email: 'X-Account-Email',
  verified: 'X-Account-Verified',
  name: 'X-Account-Name',
  session: 'X-Account-Session',
  scheme: 'X-Account-Scheme',
}

/** The last lines of the head that the backend got are the gateway's own. */
function lastNames(rawHeaders: readonly string[], count: number): string[] {
  return rawHeaders.filter((_, index) => index % 2 === 0).slice(-count)
}

t.test("by default the backend gets the caller's ID and role, and nothing else", async (t) => {
  const { backend, gateway } = await startBoth(t)
  const { account, secretKey } = await gateway.createAccount({ role: 'Admin' })
  await ask(t, gateway.url, 'GET /any', [`SecretKey: ${secretKey}`])
  const { headers, rawHeaders } = backend.last()
  const about = Object.keys(headers).filter((name) => name.startsWith('x-user'))
  t.strictSame(about.toSorted(), ['x-user-id', 'x-user-role'])
  t.match(headers, { 'x-user-id': account.id, 'x-user-role': 'Admin' })
  t.strictSame(lastNames(rawHeaders, 2), ['X-User-Id', 'X-User-Role'], 'nothing stands after them')
  t.notMatch(JSON.stringify(rawHeaders), account.email)
})

t.test("every identity header has its configured name and the caller's value", async (t) => {
  const { backend, gateway } = await startBoth(t, { config: { identity: { headers: names } } })
  const created = await gateway.createAccount({ email: 'ada@example.com', isVerified: false })
  const { JwtToken } = await gateway.tokens(created)
  const { sid } = JSON.parse(Buffer.from(JwtToken.split('.')[1] ?? '', 'base64url').toString())
  const shared = {
    'x-account': created.account.id,
    'x-account-role': 'User',
    'x-account-email': 'ada@example.com',
    'x-account-verified': 'false',
    'x-account-name': 'Ada%20Lovelace',
  }
  await ask(t, gateway.url, 'GET /any', [`SecretKey: ${created.secretKey}`])
  t.match(backend.last().headers, { ...shared, 'x-account-scheme': 'secretKey' })
  t.notOk('x-account-session' in backend.last().headers, 'a key has no session')
  await ask(t, gateway.url, 'GET /any', [`Authorization: Bearer ${JwtToken}`])
  t.match(backend.last().headers, { ...shared, 'x-account-scheme': 'bearer', 'x-account-session': sid })
  t.notOk('x-user-id' in backend.last().headers, 'the default names are not used then')
})

t.test('an identity value beyond visible ASCII is percent-encoded as UTF-8', async (t) => {
  const { backend, gateway } = await startBoth(t, { config: { identity: { headers: names } } })
  for (const [firstName, lastName, expected] of [
    ['Zoë', '', 'Zo%C3%AB'],
    ['李', '小龙', '%E6%9D%8E%20%E5%B0%8F%E9%BE%99'],
    ['🦊', '', '%F0%9F%A6%8A'],
    ['Ann-Lee', '', 'Ann-Lee'],
    ['a,b;c="d"', '', 'a,b;c="d"'],
    ['Jr.', 'O’Neil', 'Jr.%20O%E2%80%99Neil'],
    ['a\u00a0b', 'c', 'a%C2%A0b%20c'],
  ] as const) {
    const created = await gateway.createAccount({ firstName, lastName })
    const { JwtToken } = await gateway.tokens(created)
    for (const header of [`SecretKey: ${created.secretKey}`, `Authorization: Bearer ${JwtToken}`]) {
      const response = await ask(t, gateway.url, 'GET /any', [header])
      t.equal(response.status, 200)
      t.equal(String(backend.last().headers['x-account-name']).trim(), expected)
    }
  }
})

t.test('a changed account shows in the identity headers of an older token', async (t) => {
  const { backend, gateway } = await startBoth(t, { config: { identity: { headers: names } } })
  const created = await gateway.createAccount()
  const before = await gateway.tokens(created)
  await gateway.operate(({ accounts }) => accounts.update(created.account.id, { email: 'new@example.com' }))
  const response = await ask(t, gateway.url, 'GET /any', [`Authorization: Bearer ${before.JwtToken}`])
  t.equal(response.status, 200)
  t.equal(backend.last().headers['x-account-email'], 'new@example.com')
})

t.test('public and anonymous requests carry no identity headers', async (t) => {
  const { backend, gateway } = await startBoth(t, { config: { identity: { headers: names } } })
  const { secretKey } = await gateway.createAccount()
  for (const [path, headers] of [
    ['/public', []],
    ['/public', [`SecretKey: ${secretKey}`]],
    ['/optional', []],
  ] as const) {
    await ask(t, gateway.url, `GET ${path}`, [...headers])
    const about = Object.keys(backend.last().headers).filter((name) => name.startsWith('x-account'))
    t.strictSame(about, [])
  }
  await ask(t, gateway.url, 'GET /optional', [`SecretKey: ${secretKey}`])
  t.type(backend.last().headers['x-account'], 'string', 'somebody is somebody there')
})
