import t from 'tap'
import { until } from '../../setup/net.ts'
import { startApp } from './start-app.ts'

/** The members of a problem that are the same for every request. */
async function problemOf(response: Response) {
  const { code, status, type } = (await response.json()) as Record<string, unknown>
  return { code, status, type }
}

t.test('a required caller is authenticated by key and by token, and shown to the handler', async (t) => {
  const { url, createAccount, tokens } = await startApp(t, {
    routes: (app) => {
      app.get('/me', { onRequest: app.gatehouse.require() }, (request) => request.principal)
    },
  })
  const created = await createAccount({ role: 'Editor' })
  const { account, secretKey } = created
  const byKey = await fetch(`${url}/me`, { headers: { SecretKey: secretKey } })
  t.match(await byKey.json(), {
    accountId: account.id,
    role: 'Editor',
    scheme: 'secretKey',
    key: 'default',
    scopes: [],
    profile: { email: account.email, isVerified: true },
  })
  const { JwtToken } = await tokens(created)
  const byToken = await fetch(`${url}/me`, { headers: { Authorization: `Bearer ${JwtToken}` } })
  t.match(await byToken.json(), { accountId: account.id, role: 'Editor', scheme: 'bearer' })
})

t.test(
  'a refusal has the status, code and headers of the gateway, whatever error handler the app has',
  async (t) => {
    const { url, createAccount } = await startApp(t, {
      routes: (app) => {
        app.setErrorHandler((_error, _request, reply) => reply.code(500).send('the handler of the app'))
        app.get('/me', { onRequest: app.gatehouse.require() }, () => 'reached')
        app.get('/admin', { onRequest: app.gatehouse.require({ roles: ['Admin'] }) }, () => 'reached')
        app.get('/tokens', { onRequest: app.gatehouse.require({ auth: 'bearer' }) }, () => 'reached')
      },
    })
    const { secretKey } = await createAccount()
    const missing = await fetch(`${url}/me`)
    t.equal(missing.headers.get('content-type'), 'application/problem+json')
    t.equal(missing.headers.get('cache-control'), 'no-store')
    t.equal(missing.headers.get('www-authenticate'), 'SecretKey realm="gatehouse", Bearer realm="gatehouse"')
    t.ok(missing.headers.get('x-request-id'))
    t.strictSame(await problemOf(missing), {
      code: 'credentials-missing',
      status: 401,
      type: 'urn:gatehouse:credentials-missing',
    })
    const wrong = await fetch(`${url}/me`, { headers: { SecretKey: `${secretKey.slice(0, -1)}_` } })
    t.match(await problemOf(wrong), { code: 'secret-key-invalid', status: 401 })
    const role = await fetch(`${url}/admin`, { headers: { SecretKey: secretKey } })
    t.match(await problemOf(role), { code: 'role-forbidden', status: 403 })
    const scheme = await fetch(`${url}/tokens`, { headers: { SecretKey: secretKey } })
    t.match(await problemOf(scheme), { code: 'scheme-not-accepted', status: 401 })
  },
)

t.test('a caller is refused before its body is read', async (t) => {
  const parsed: string[] = []
  const { url } = await startApp(t, {
    routes: (app) => {
      app.addContentTypeParser('text/plain', { parseAs: 'string' }, (_request, body, done) => {
        parsed.push(String(body))
        done(null, body)
      })
      app.post('/notes', { onRequest: app.gatehouse.require() }, () => 'reached')
    },
  })
  const response = await fetch(`${url}/notes`, { method: 'POST', body: 'a note' })
  t.equal(response.status, 401)
  t.strictSame(parsed, [])
})

t.test('an optional caller may be anonymous, but not wrong', async (t) => {
  const { url } = await startApp(t, {
    routes: (app) => {
      const onRequest = app.gatehouse.require({ auth: 'optional' })
      app.get('/greeting', { onRequest }, (request) => ({ isKnown: request.principal !== undefined }))
    },
  })
  t.strictSame(await (await fetch(`${url}/greeting`)).json(), { isKnown: false })
  const wrong = await fetch(`${url}/greeting`, { headers: { SecretKey: 'wrong' } })
  t.match(await problemOf(wrong), { code: 'secret-key-invalid', status: 401 })
})

t.test('two credentials are refused as ambiguous', async (t) => {
  const { url, createAccount } = await startApp(t, {
    routes: (app) => {
      app.get('/me', { onRequest: app.gatehouse.require() }, () => 'reached')
    },
  })
  const { secretKey } = await createAccount()
  const both = await fetch(`${url}/me`, { headers: { SecretKey: secretKey, Authorization: 'Bearer a.b.c' } })
  t.match(await problemOf(both), { code: 'credentials-ambiguous', status: 400 })
})

t.test('a key that was reset is refused at once', async (t) => {
  const { url, createAccount, operate } = await startApp(t, {
    routes: (app) => {
      app.get('/me', { onRequest: app.gatehouse.require() }, () => 'reached')
    },
  })
  const { account, secretKey } = await createAccount()
  const call = async () => (await fetch(`${url}/me`, { headers: { SecretKey: secretKey } })).status
  t.equal(await call(), 200)
  await operate(({ defaultKeys }) => defaultKeys.resetSecretKey(account.id, 0))
  t.ok(await until('refused', async () => (await call()) === 401))
})

t.test('a rate is counted for each account, and answered with its headers', async (t) => {
  const { url, createAccount } = await startApp(t, {
    routes: (app) => {
      const onRequest = app.gatehouse.require({ rateLimit: { limit: 1, per: '1h' } })
      app.get('/report', { onRequest }, () => 'reached')
      app.get('/other', { onRequest }, () => 'reached')
    },
  })
  const { secretKey } = await createAccount()
  const call = (path: string) => fetch(url + path, { headers: { SecretKey: secretKey } })
  t.equal((await call('/report')).status, 200)
  const beyond = await call('/report')
  t.match(await problemOf(beyond), { code: 'rate-limited', status: 429 })
  t.equal(beyond.headers.get('ratelimit-limit'), '1')
  t.ok(beyond.headers.get('retry-after'))
  t.equal((await call('/other')).status, 200, 'each path has its own count')
})

t.test('a principal cannot be changed for later requests', async (t) => {
  const { url, createAccount } = await startApp(t, {
    routes: (app) => {
      app.get('/me', { onRequest: app.gatehouse.require() }, (request) => {
        const { principal } = request
        return {
          isChanged: principal !== undefined && Reflect.set(principal, 'role', 'Admin'),
          role: principal?.role,
        }
      })
    },
  })
  const { secretKey } = await createAccount()
  const response = await fetch(`${url}/me`, { headers: { SecretKey: secretKey } })
  t.strictSame(await response.json(), { isChanged: false, role: 'User' })
})

t.test('options that are not valid are refused where they stand', async (t) => {
  const messages: string[] = []
  await startApp(t, {
    routes: (app) => {
      for (const options of [
        { auth: 'both' },
        { auth: 'secretkey' },
        { auth: 'none', roles: ['Admin'] },
        {
          auth: 'deny',
          maxBody: '1KiB',
          methods: ['GET'],
          role: 'Admin',
          rateLimit: { limit: 0, per: '1m' },
        },
        { role: ['Admin'] },
        { auth: 'optional', roles: ['Admin'] },
        { rateLimit: { limit: 0, per: '1m' } },
      ]) {
        // The cast stands for a caller without types.
        const wrong = options as Parameters<typeof app.gatehouse.require>[0]
        try {
          app.gatehouse.require(wrong)
        } catch (error) {
          messages.push(String(error))
        }
      }
    },
  })
  const expected = [
    'config  auth: must be one of',
    'config  auth: must be one of secretKey',
    '1 problem:\n  config  auth: must not be none: a route that is open to everybody has no hook',
    'config  auth: must not be deny: leave out a route that is closed to everybody',
    'config  role: unknown option, did you mean "roles"?',
    'config  roles: cannot be combined with auth: optional',
    'config  rateLimit.limit: must be a whole number from 1 to 1000000000',
  ]
  t.equal(messages.length, expected.length)
  for (const [index, text] of expected.entries()) t.ok(messages[index]?.includes(text), text)
  t.ok(messages[1]?.includes('did you mean "secretKey"?'))
  t.match(messages[3], '5 problems')
  for (const name of ['maxBody', 'methods'])
    t.ok(messages[3]?.includes(`config  ${name}: is an option of the standalone gateway`), name)
  for (const name of ['role', 'rateLimit.limit']) t.ok(messages[3]?.includes(`config  ${name}: `), name)
})

t.test(
  'with authorization: backend the field is the app’s, and the caller has a key in a header',
  async (t) => {
    const { url, createAccount } = await startApp(t, {
      routes: (app) => {
        const onRequest = app.gatehouse.require({ authorization: 'backend' })
        app.get('/me', { onRequest }, ({ principal, headers }) => ({
          id: principal?.accountId,
          authorization: headers.authorization,
        }))
      },
    })
    const { account, secretKey } = await createAccount()
    const ask = (headers: Readonly<Record<string, string>>) => fetch(`${url}/me`, { headers })
    const both = await ask({ SecretKey: secretKey, Authorization: 'Bearer of-the-app' })
    t.strictSame(await both.json(), { id: account.id, authorization: 'Bearer of-the-app' })
    const alone = await ask({ Authorization: 'Bearer of-the-app' })
    t.match(await problemOf(alone), { code: 'credentials-missing' })
    const misplaced = await ask({ Authorization: `Bearer ${secretKey}` })
    t.match(await problemOf(misplaced), { code: 'credentials-misplaced', status: 400 })
  },
)
