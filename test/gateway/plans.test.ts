import t, { type Test } from 'tap'
import { createKey, digestOf } from '#platform/secrets/keys.ts'
import { startBoth } from '../setup/both.ts'
import type { TestGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { newSecretKey } from '../store/samples.ts'
import { addKey } from './support/further-keys.ts'

const day = 86_400_000
const time = { ms: Date.UTC(2100, 0, 31, 12) }

const plans = {
  free: { quota: { limit: 3, per: 'month' } },
  pro: { quota: { limit: 5, per: 'month' } },
  large: { quota: { limit: 2_000, per: 'day' }, rateLimit: { limit: 5_000, per: '1s' } },
  slow: { rateLimit: { limit: 2, per: '24h' }, quota: { limit: 100, per: 'day' } },
}

const routes = [
  { name: 'one', path: '/one', upstream: 'backend', auth: 'any' },
  { name: 'two', path: '/two', upstream: 'backend', auth: 'optional' },
  {
    name: 'limited',
    path: '/limited',
    upstream: 'backend',
    auth: 'any',
    rateLimit: { limit: 1, per: '24h' },
  },
  {
    name: 'by-key',
    path: '/by-key',
    upstream: 'backend',
    auth: 'optional',
    rateLimit: { limit: 1, per: '24h', by: 'key' },
  },
]

async function createFurtherKey(gateway: TestGateway, accountId: string): Promise<string> {
  const key = createKey('secretKey', accountId, 'gate')
  const secretKey = newSecretKey({ digest: digestOf(key), name: 'ci' })
  await gateway.operate(({ store }) => store.addSecretKey(accountId, { secretKey, keysMax: 2 }))
  return key
}

async function start(test: Test, config: object = {}) {
  const gateway = await startBoth(test, { clock: () => time.ms, config: { plans, routes, ...config } })
  const ask = async (path: string, secretKey?: string) => {
    const headers: Record<string, string> = secretKey === undefined ? {} : { SecretKey: secretKey }
    const response = await fetch(gateway.url + path, { headers })
    const { code } = response.status < 400 ? {} : ((await response.json()) as { readonly code: string })
    return { status: response.status, code, headers: Object.fromEntries(response.headers) }
  }
  const often = async (paths: readonly string[], secretKey?: string) => {
    const words: (string | number)[] = []
    for (const path of paths) {
      const { status, code } = await ask(path, secretKey)
      words.push(code ?? status)
    }
    return words
  }
  return { gateway, ask, often }
}

t.test('a quota counts the requests of an account over all routes and keys', async (t) => {
  const { gateway, ask, often } = await start(t)
  const { secretKey, account } = await gateway.createAccount({ plan: 'free' })
  t.strictSame(await often(['/one', '/two', '/one', '/two'], secretKey), [200, 200, 200, 'quota-exceeded'])
  const { headers, status } = await ask('/one', secretKey)
  t.equal(status, 429)
  t.match(headers, {
    'retry-after': String(day / 2_000),
    'ratelimit-limit': '3',
    'ratelimit-remaining': '0',
    'ratelimit-reset': String(day / 2_000),
  })
  t.strictSame(await often(['/two', '/two']), [200, 200], 'an anonymous request has no plan')
  time.ms += day / 2
  t.strictSame(await often(['/one'], secretKey), [200], 'the next month')
  await gateway.operate(({ accounts }) => accounts.update(account.id, { plan: undefined }))
  await until('it has no quota any more', async () => {
    const words = await often(Array(6).fill('/one'), secretKey)
    return words.every((word) => word === 200) || undefined
  })
})

t.test('a refused request does not use up a quota', async (t) => {
  const { gateway, often } = await start(t)
  const { secretKey } = await gateway.createAccount({ plan: 'free' })
  t.strictSame(await often(['/limited', '/limited', '/limited', '/nowhere'], secretKey), [
    200,
    'rate-limited',
    'rate-limited',
    'route-not-found',
  ])
  t.strictSame(await often(['/one', '/one', '/one'], secretKey), [200, 200, 'quota-exceeded'])
})

t.test("a plan's rate counts over all routes, before its quota", async (t) => {
  const { gateway, ask, often } = await start(t)
  const { secretKey } = await gateway.createAccount({ plan: 'slow' })
  t.strictSame(await often(['/one', '/two', '/one'], secretKey), [200, 200, 'rate-limited'])
  t.match(await ask('/two', secretKey), { status: 429, headers: { 'ratelimit-limit': '2' } })
})

t.test('a rate by key counts each key of an account, and anonymous requests by address', async (t) => {
  const { gateway, often } = await start(t)
  const { secretKey, account } = await gateway.createAccount()
  const second = await createFurtherKey(gateway, account.id)
  t.strictSame(await often(['/by-key', '/by-key'], secretKey), [200, 'rate-limited'])
  t.strictSame(await often(['/by-key', '/by-key'], second), [200, 'rate-limited'])
  t.strictSame(await often(['/by-key', '/by-key']), [200, 'rate-limited'])
})

t.test('a quota is kept over a restart of a gateway with SQLite', async (t) => {
  const folder = t.testdir()
  const config = {
    store: { sqlite: { path: `${folder}/gatehouse.db` } },
    keys: { sealingKey: { file: `${folder}/key` } },
  }
  const first = await start(t, config)
  const { secretKey } = await first.gateway.createAccount({ plan: 'pro' })
  await first.often(['/one', '/one', '/one'], secretKey)
  await first.gateway.shutDown()
  const second = await start(t, config)
  t.strictSame(await second.often(['/one', '/one', '/one'], secretKey), [200, 200, 'quota-exceeded'])
})

t.test('an account whose plan is not in the config is not limited, which is logged once', async (t) => {
  const { gateway, often } = await start(t)
  const { secretKey, account } = await gateway.createAccount()
  await gateway.operate(({ store }) => store.updateAccount(account.id, { plan: 'gone' }))
  t.strictSame(await often(Array(6).fill('/one'), secretKey), Array(6).fill(200))
  const warnings = gateway.logLines.filter((line) => line.includes('a plan that is not in the config'))
  t.equal(warnings.length, 1)
  t.match(JSON.parse(warnings[0] ?? '{}'), { level: 'warn', plan: 'gone' })
})

t.test('the admin API gives and takes plans, and is not limited by them', async (t) => {
  const { gateway, often } = await start(t)
  const admin = await gateway.createAccount({ role: 'Admin', plan: 'free' })
  const call = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${gateway.url}/api/v1/admin/accounts${path}`, {
      method,
      headers: { SecretKey: admin.secretKey, 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  t.strictSame(await often(Array(4).fill('/one'), admin.secretKey), [200, 200, 200, 'quota-exceeded'])
  const profile = { email: 'bob@example.com', firstName: 'Bob', lastName: '', role: 'User' }
  const created = await call('POST', '', { ...profile, plan: 'pro' })
  t.match(created, { status: 201, body: { plan: 'pro' } })
  const path = `/${created.body.id}`
  t.match(await call('GET', path), { status: 200, body: { plan: 'pro' } })
  t.match(await call('PATCH', path, { plan: 'free' }), { status: 200, body: { plan: 'free' } })
  t.match(
    await call('PATCH', path, { firstName: 'Rob' }),
    { status: 200, body: { plan: 'free' } },
    'as it was',
  )
  for (const plan of ['gold', '', 'none', '__proto__']) {
    t.match(
      await call('PATCH', path, { plan }),
      {
        status: 400,
        body: {
          code: 'request-invalid',
          errors: [{ field: 'plan', message: 'unknown plan: must be one of free, pro, large, slow' }],
        },
      },
      plan,
    )
  }
  t.match(await call('PATCH', path, { plan: null }), { status: 200, body: { plan: null } })
  t.match(await call('POST', '', { ...profile, email: 'x@example.com', plan: 'gold' }), { status: 400 })
})

t.test('usage shows the plan of the caller and what is left of it, to the request', async (t) => {
  const { gateway, often } = await start(t)
  const created = await gateway.createAccount({ plan: 'large' })
  const { secretKey, account } = created
  const { JwtToken } = await gateway.tokens(created)
  const admin = await gateway.createAccount({ role: 'Admin' })
  const planAt = async (path: string, headers: Record<string, string>) => {
    const response = await fetch(`${gateway.url}/api/v1/${path}`, { headers })
    return ((await response.json()) as { readonly plan: unknown }).plan
  }
  const resetsAt = new Date(Math.ceil((time.ms + 1) / day) * day).toISOString()
  const expected = (used: number) => ({
    name: 'large',
    known: true,
    quota: { limit: 2_000, per: 'day', used, remaining: 2_000 - used, resetsAt },
    rateLimit: { limit: 5_000, perSeconds: 1 },
  })
  t.strictSame(await planAt('accounts/usage', { SecretKey: secretKey }), expected(0))
  await often(Array(7).fill('/one'), secretKey)
  for (const [path, headers] of [
    ['accounts/usage', { SecretKey: secretKey }],
    ['accounts/usage', { Authorization: `Bearer ${JwtToken}` }],
    [`admin/accounts/${account.id}/usage`, { SecretKey: admin.secretKey }],
  ] as const) {
    t.strictSame(await planAt(path, headers), expected(7), 'what is only reserved is not used')
  }
  t.equal(await planAt('accounts/usage', { SecretKey: admin.secretKey }), null, 'no plan')
  await gateway.operate(({ store }) => store.updateAccount(account.id, { plan: 'gone' }))
  t.strictSame(await planAt('accounts/usage', { SecretKey: secretKey }), {
    name: 'gone',
    known: false,
    quota: null,
    rateLimit: null,
  })
})

t.test('a quota that is used up shows that nothing is left, and usage can still be asked for', async (t) => {
  const { gateway, often } = await start(t)
  const { secretKey } = await gateway.createAccount({ plan: 'free' })
  t.strictSame(await often(Array(5).fill('/one'), secretKey), [
    ...[200, 200, 200],
    ...['quota-exceeded', 'quota-exceeded'],
  ])
  const response = await fetch(`${gateway.url}/api/v1/accounts/usage`, { headers: { SecretKey: secretKey } })
  t.match(await response.json(), { plan: { quota: { limit: 3, used: 3, remaining: 0 } } })
})

t.test('requests of accounts whose plan is unknown are counted in the metrics', async (t) => {
  const { gateway, often } = await start(t)
  const { secretKey, account } = await gateway.createAccount()
  await gateway.operate(({ store }) => store.updateAccount(account.id, { plan: 'gone' }))
  await often(Array(3).fill('/one'), secretKey)
  const text = await (await fetch(`${gateway.opsUrl}/metrics`)).text()
  t.match(text, /^gatehouse_unknown_plan_requests_total 3$/m)
})

t.test('a key or token with scopes is refused the usage of its account', async (t) => {
  const { gateway } = await start(t)
  const created = await gateway.createAccount({ plan: 'free' })
  const scoped = await addKey(gateway, created.account.id, { name: 'ci', scopes: ['orders:read'] })
  const { JwtToken } = await gateway.tokens({ ...created, secretKey: scoped })
  for (const headers of [{ SecretKey: scoped }, { Authorization: `Bearer ${JwtToken}` }]) {
    const response = await fetch(`${gateway.url}/api/v1/accounts/usage`, { headers })
    t.equal(response.status, 403)
    t.match(await response.json(), { code: 'scope-forbidden' })
  }
})
