import { isDeepStrictEqual } from 'node:util'
import { Secret, TOTP } from 'otpauth'
import t, { type Test } from 'tap'
import { refreshTokenPath } from '../gateway/support/ask.ts'
import {
  type CookieJar,
  createCookieJar,
  csrfIn,
  givePassword,
  pageVisit,
  password,
  sameOrigin,
  signInAt,
  submit,
} from '../gateway/support/cookie-jar.ts'
import { codeOf } from '../gateway/support/problem.ts'
import { reloadWith, taken } from '../gateway/support/reload.ts'
import { startBoth } from '../setup/both.ts'
import { type StoreDriver, storeDrivers, type TestGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'

const adminApi = '/api/v1/admin/accounts'
const tokenCookies = ['accessToken', 'refreshToken']

async function start(t: Test, driver: StoreDriver, requireSecondFactor: string): Promise<TestGateway> {
  const route = { upstream: 'backend', auth: 'any', browser: { cookie: true, signIn: true } }
  return startBoth(t, {
    driver,
    config: {
      accessCookie: { enabled: true },
      portal: { requireSecondFactor },
      routes: [
        { ...route, name: 'app', path: '/app' },
        { upstream: 'backend', auth: 'any', name: 'api', path: '/' },
      ],
    },
  })
}

async function signedIn(t: Test, gateway: TestGateway, role = 'Admin') {
  const created = await gateway.createAccount({ role })
  await givePassword(t, gateway, created.account.id)
  const jar = createCookieJar(t, gateway.url)
  await signInAt(jar, '/portal/sign-in', created.account.email)
  return { ...created, id: created.account.id, jar }
}

const heldTokens = ({ cookies }: CookieJar) => tokenCookies.filter((name) => cookies.has(name))

/** Sets up the second factor, as the page lets one. */
async function enrol(jar: CookieJar) {
  const page = await jar.ask('GET /portal/profile/two-factor', pageVisit('same-origin'))
  const secret = /name="secret" value="([^"]*)"/.exec(page.body)?.[1] ?? ''
  const fields = {
    csrf: csrfIn(page),
    secret,
    code: new TOTP({ secret: Secret.fromBase32(secret) }).generate(),
    password,
  }
  return submit(jar, '/portal/profile/two-factor', fields)
}

/** What is wrong with the access cookie of a browser, for a page and for the admin API. */
async function refusalsOf(jar: CookieJar) {
  const token = jar.cookies.get('accessToken') ?? ''
  const page = await jar.ask('GET /app', sameOrigin)
  const api = await jar.ask(`GET ${adminApi}`, [...sameOrigin, `Authorization: Bearer ${token}`])
  return [page, api].map((answer) => (answer.status === 200 ? undefined : codeOf(answer)))
}

const accepted = [undefined, undefined]
const refused = ['token-revoked', 'token-revoked']

for (const driver of storeDrivers) {
  t.test(`no token comes before a second factor that is required, on ${driver}`, async (t) => {
    const gateway = await start(t, driver, 'admins')

    t.test('the sign-in, a link for the password and a refresh give none; enrolment does', async (t) => {
      const { jar } = await signedIn(t, gateway)
      t.strictSame(heldTokens(jar), [])
      const visit = await jar.ask('GET /portal/continue?to=%2Fapp', pageVisit('same-origin'))
      t.match(visit.headers.location, /\/portal\/profile\/two-factor$/)
      t.strictSame(heldTokens(jar), [])
      t.equal((await enrol(jar)).status, 200)
      t.strictSame(heldTokens(jar), tokenCookies)
      t.equal((await jar.ask('GET /app', sameOrigin)).status, 200)
    })

    t.test('tokens of somebody who was signed in before do not stay in the browser', async (t) => {
      const { jar } = await signedIn(t, gateway, 'User')
      t.strictSame(heldTokens(jar), tokenCookies, 'nothing is required of a User')
      const admin = await gateway.createAccount({ role: 'Admin' })
      await givePassword(t, gateway, admin.account.id)
      const other = createCookieJar(t, gateway.url)
      for (const name of tokenCookies) other.cookies.set(name, jar.cookies.get(name) ?? '')
      await signInAt(other, '/portal/sign-in', admin.account.email)
      t.strictSame(heldTokens(other), [])
    })

    t.test('whoever becomes an Admin afterwards is not refreshed before enrolment', async (t) => {
      const { id, jar } = await signedIn(t, gateway, 'User')
      await gateway.operate(({ accounts }) => accounts.update(id, { role: 'Admin' }))
      const refreshed = await jar.ask(`POST ${refreshTokenPath}`, [
        ...sameOrigin,
        'Content-Type: application/json',
      ])
      t.equal(codeOf(refreshed), 'session-revoked')
      t.equal((await enrol(jar)).status, 200)
      t.strictSame(heldTokens(jar), tokenCookies)
      t.equal((await jar.ask('GET /app', sameOrigin)).status, 200)
    })

    t.test('the token of a browser rests from the removal of the factor until the next one', async (t) => {
      const { id, jar, ...created } = await signedIn(t, gateway)
      const { JwtToken } = await gateway.tokens(created)
      await enrol(jar)
      t.strictSame(await refusalsOf(jar), accepted)
      await gateway.operate(({ resetSecondFactor }) => resetSecondFactor(id))
      await until('refused', async () => isDeepStrictEqual(await refusalsOf(jar), refused))
      const visit = await jar.ask('GET /app', pageVisit('same-origin'))
      t.match(visit.headers.location, /\/portal\/continue/, 'a page visit leads to the enrolment')
      const withKeys = await jar.ask('GET /api', [`Authorization: Bearer ${JwtToken}`])
      t.equal(withKeys.status, 200, 'tokens obtained with keys are not affected')
      const held = jar.cookies.get('accessToken') ?? ''
      await enrol(jar)
      t.strictSame(await refusalsOf(jar), accepted)
      jar.cookies.set('accessToken', held)
      t.strictSame(await refusalsOf(jar), accepted, 'the one from before too')
    })
  })
}

t.test(
  'a reload that requires a second factor holds back tokens at once, and refuses those of before',
  async (t) => {
    const gateway = await start(t, 'sqlite', 'nobody')
    const { account, jar } = await signedIn(t, gateway)
    t.strictSame(await refusalsOf(jar), accepted)
    t.match(await reloadWith(gateway, { portal: { requireSecondFactor: 'everybody' } }), taken)
    t.strictSame(await refusalsOf(jar), refused)
    const refreshed = await jar.ask(`POST ${refreshTokenPath}`, [
      ...sameOrigin,
      'Content-Type: application/json',
    ])
    t.equal(codeOf(refreshed), 'session-revoked')
    const other = createCookieJar(t, gateway.url)
    await signInAt(other, '/portal/sign-in', account.email)
    t.strictSame(heldTokens(other), [])
  },
)

t.test('an Admin who is signed in by the form changes their own account in the portal only', async (t) => {
  const gateway = await start(t, 'sqlite', 'nobody')
  const { id, jar, secretKey } = await signedIn(t, gateway)
  const other = await gateway.createAccount()
  const token = jar.cookies.get('accessToken') ?? ''
  const send = (by: string, line: string, body?: object) =>
    jar.ask(line, [by, 'Content-Type: application/json', ...sameOrigin], JSON.stringify(body ?? {}))
  const changes = [
    ['POST', '/secret-key', {}, 200],
    ['POST', '/api-key', {}, 200],
    ['POST', '/keys', { name: 'script', scopes: [], addresses: [] }, 201],
    ['PATCH', '', { email: 'elsewhere@example.com' }, 200],
    ['PATCH', '', { firstName: 'X' }, 200],
  ] as const
  for (const [method, below, body] of changes) {
    const answer = await send(`Authorization: Bearer ${token}`, `${method} ${adminApi}/${id}${below}`, body)
    t.equal(codeOf(answer), 'own-account', `${method} ${below} of one's own`)
  }
  const applying = (email: string) =>
    send(`Authorization: Bearer ${token}`, 'POST /api/v1/admin/apply', {
      accounts: [{ email, keys: [{ name: 'applied' }] }],
    })
  const { email } = await gateway.operate(({ accounts }) => accounts.get(id))
  t.equal(codeOf(await applying(email)), 'own-account')
  t.equal((await applying(other.account.email)).status, 200)
  for (const [method, below, body, status] of changes.slice(0, 3)) {
    const line = `${method} ${adminApi}/${other.account.id}${below}`
    t.equal((await send(`Authorization: Bearer ${token}`, line, body)).status, status, `of others: ${line}`)
  }
  const listed = await send(`Authorization: Bearer ${token}`, `GET ${adminApi}/${id}/keys`)
  t.equal(listed.status, 200, 'reading is free')
  const byKey = await send(`SecretKey: ${secretKey}`, `POST ${adminApi}/${id}/api-key`)
  t.equal(byKey.status, 200, 'a key shows as much as the password would')
})

t.test('tokens that were made with keys may change their own account', async (t) => {
  const gateway = await start(t, 'sqlite', 'nobody')
  const created = await gateway.createAccount({ role: 'Admin' })
  const { JwtToken } = await gateway.tokens(created)
  const jar = createCookieJar(t, gateway.url)
  const headers = [`Authorization: Bearer ${JwtToken}`, 'Content-Type: application/json']
  const path = `${adminApi}/${created.account.id}/api-key`
  t.equal((await jar.ask(`POST ${path}`, headers, '{}')).status, 200)
})
