import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { startBoth } from '../setup/both.ts'
import { type StoreDriver, storeDrivers } from '../setup/gateway.ts'
import { startRedis } from '../setup/redis.ts'
import { ask, askJson } from './support/ask.ts'

const plans = {
  large: { quota: { limit: 50, per: 'month' } },
  small: { quota: { limit: 2, per: 'month' } },
  slow: { rateLimit: { limit: 1, per: '24h' } },
}
const routes = [
  { name: 'one', path: '/one', upstream: 'backend', auth: 'any' },
  { name: 'rated', path: '/rated', upstream: 'backend', auth: 'any', rateLimit: { limit: 1, per: '24h' } },
]
const halfDay = 43_200_000

async function start(t: Test, driver: StoreDriver, more: Parameters<typeof startBoth>[1] = {}) {
  const time = { ms: Date.UTC(2100, 0, 31, 12) }
  const { gateway } = await startBoth(t, {
    clock: () => time.ms,
    driver,
    ...more,
    config: { plans, routes, ...more.config },
  })
  const email = `admin-${randomUUID()}@example.com`
  const admin = await gateway.createAccount({ role: 'Admin', email })
  const call = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${gateway.url}/api/v1/admin/accounts/${path}`, {
      method,
      headers: { SecretKey: admin.secretKey, 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    // The cast is sound: every answer that is looked into is an object.
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  const createKey = async (id: string, name: string, quota: unknown): Promise<string> => {
    const { status, body } = await call('POST', `${id}/keys`, { name, quota })
    t.equal(status, 201)
    t.strictSame(body.quota, quota)
    return String(body.secretKey)
  }
  /** @returns the status of each request, or its error code */
  const often = async (count: number, credential: string, path = '/one') => {
    const words: (string | number)[] = []
    for (let turn = 0; turn < count; turn++) {
      const { status, body } = await ask(t, gateway.url, `GET ${path}`, [credential])
      words.push(status < 400 ? status : JSON.parse(body).code)
    }
    return words
  }
  return { gateway, time, call, createKey, often }
}

const keyLine = (key: string) => `SecretKey: ${key}`

for (const driver of storeDrivers) {
  t.test(
    `${driver}: a key is refused at its quota until the next day, and no other key with it`,
    async (t) => {
      const { gateway, time, call, createKey, often } = await start(t, driver)
      const user = await gateway.createAccount({ plan: 'large' })
      const { id } = user.account
      const agent = await createKey(id, 'agent', { limit: 3, per: 'day' })
      const first = await ask(t, gateway.url, 'GET /one', [keyLine(agent)])
      t.equal(first.headers['ratelimit-policy'], '"key-quota";q=3;w=86400, "quota";q=50;w=2678400')
      t.match(first.headers.ratelimit, /^"key-quota";r=2;t=43200, "quota";r=49;t=43200$/)
      t.equal(first.headers['ratelimit-limit'], '3')
      t.strictSame(await often(3, keyLine(agent)), [200, 200, 'quota-exceeded'])
      const refused = await ask(t, gateway.url, 'GET /one', [keyLine(agent)])
      t.equal(refused.status, 429)
      t.equal(refused.headers['retry-after'], String(halfDay / 1_000))
      t.equal(refused.headers['ratelimit-policy'], '"key-quota";q=3;w=86400')
      t.equal(refused.headers.ratelimit, '"key-quota";r=0;t=43200')
      t.strictSame(await often(1, keyLine(user.secretKey)), [200], 'the default key has none')

      const report = await call('GET', `${id}/usage`)
      const resetsAt = new Date(time.ms + halfDay).toISOString()
      t.strictSame(report.body.keyQuotas, [
        { key: 'agent', limit: 3, per: 'day', used: 3, remaining: 0, resetsAt },
      ])
      t.match(
        report.body.plan,
        { quota: { used: 4 } },
        'what the key may not use is not counted for the account',
      )
      const own = await fetch(`${gateway.url}/api/v1/accounts/usage`, { headers: { SecretKey: agent } })
      t.match(await own.json(), { keyQuotas: [{ key: 'agent', remaining: 0 }] })
      t.match(await call('GET', `${id}/keys`), {
        body: { items: [{ name: 'default', quota: null }, { quota: { limit: 3, per: 'day' } }] },
      })
      time.ms += halfDay
      t.strictSame(await often(1, keyLine(agent)), [200], 'the next day')
    },
  )

  t.test(`${driver}: tokens that were got with a key count against its quota`, async (t) => {
    const { gateway, createKey, often } = await start(t, driver)
    const user = await gateway.createAccount()
    const agent = await createKey(user.account.id, 'agent', { limit: 3, per: 'month' })
    const { JwtToken } = await gateway.tokens({ ...user, secretKey: agent })
    t.strictSame(await often(1, keyLine(agent)), [200])
    t.strictSame(await often(3, `Authorization: Bearer ${JwtToken}`), [200, 200, 'quota-exceeded'])
    t.strictSame(await often(1, keyLine(agent)), ['quota-exceeded'])
    const other = await gateway.tokens(user)
    t.strictSame(await often(4, `Authorization: Bearer ${other.JwtToken}`), [200, 200, 200, 200])
  })

  t.test(`${driver}: a key that is rotated or renamed keeps what it has spent`, async (t) => {
    // Commands have the system's clock, by which the old key still works.
    const now = Date.now()
    const { gateway, createKey, often } = await start(t, driver, { clock: () => now })
    const { account } = await gateway.createAccount()
    const { id } = account
    const first = await createKey(id, 'agent', { limit: 6, per: 'day' })
    t.strictSame(await often(2, keyLine(first)), [200, 200])
    const rotate = async (grace: number) =>
      (await gateway.operate(({ secretKeys }) => secretKeys.rotate(id, 'agent', grace))).key
    const second = await rotate(3_600)
    t.strictSame(await often(1, keyLine(second)), [200])
    t.strictSame(await often(1, keyLine(first)), [200], 'the old key counts with it')
    const third = await rotate(0)
    t.strictSame(await often(1, keyLine(third)), [200])
    await gateway.operate(({ secretKeys }) => secretKeys.rename(id, 'agent', 'bot'))
    t.strictSame(await often(2, keyLine(third)), [200, 'quota-exceeded'])
    await gateway.operate(({ secretKeys }) => secretKeys.revoke(id, 'bot', 0))
    const another = await createKey(id, 'bot', { limit: 6, per: 'day' })
    t.strictSame(await often(1, keyLine(another)), [200], 'another key begins at zero')
  })

  t.test(`${driver}: rates come before the quota of a key, and that of the plan after it`, async (t) => {
    const { gateway, call, createKey, often } = await start(t, driver)
    const { account } = await gateway.createAccount({ plan: 'small' })
    const agent = await createKey(account.id, 'agent', { limit: 2, per: 'day' })
    t.strictSame(await often(2, keyLine(agent), '/rated'), [200, 'rate-limited'])
    t.strictSame(await often(2, keyLine(agent)), [200, 'quota-exceeded'])
    const refused = await ask(t, gateway.url, 'GET /one', [keyLine(agent)])
    t.match(refused.headers['ratelimit-policy'], /^"key-quota"/)
    const loose = await createKey(account.id, 'loose', { limit: 9, per: 'day' })
    const ofPlan = await ask(t, gateway.url, 'GET /one', [keyLine(loose)])
    t.equal(ofPlan.status, 429)
    t.match(ofPlan.headers['ratelimit-policy'], /^"quota"/)
    await often(5, keyLine(loose))
    const { body: spent } = await call('GET', `${account.id}/usage`)
    t.match(spent, {
      keyQuotas: [
        { key: 'agent', used: 2 },
        { key: 'loose', used: 0 },
      ],
    })
    const slow = await gateway.createAccount({ plan: 'slow' })
    const slowKey = await createKey(slow.account.id, 'agent', { limit: 9, per: 'day' })
    t.strictSame(await often(3, keyLine(slowKey)), [200, 'rate-limited', 'rate-limited'])
    const { body } = await call('GET', `${slow.account.id}/usage`)
    t.match(body.keyQuotas, [{ used: 1 }], 'what the rate refuses is not spent')
  })
}

t.test(
  'what a key has spent survives a restart with SQLite, and is shared by two instances on Redis',
  async (t) => {
    const folder = t.testdir()
    const config = {
      store: { sqlite: { path: `${folder}/gatehouse.db` } },
      keys: { sealingKey: { file: `${folder}/key` } },
    }
    const first = await start(t, 'sqlite', { config })
    const { account } = await first.gateway.createAccount()
    const agent = await first.createKey(account.id, 'agent', { limit: 5, per: 'month' })
    t.strictSame(await first.often(3, keyLine(agent)), [200, 200, 200])
    await first.gateway.shutDown()
    const second = await start(t, 'sqlite', { config })
    t.strictSame(await second.often(3, keyLine(agent)), [200, 200, 'quota-exceeded'])

    const redis = await startRedis(t)
    const [one, two] = [await start(t, 'redis', { redis }), await start(t, 'redis', { redis })]
    const user = await one.gateway.createAccount()
    const shared = await one.createKey(user.account.id, 'agent', { limit: 7, per: 'month' })
    t.strictSame(await one.often(3, keyLine(shared)), [200, 200, 200])
    t.strictSame(await two.often(3, keyLine(shared)), [200, 200, 200])
    const { key: rotated } = await one.gateway.operate(({ secretKeys }) =>
      secretKeys.rotate(user.account.id, 'agent', 0),
    )
    t.strictSame(await two.often(2, keyLine(rotated)), [200, 'quota-exceeded'])
    t.strictSame(await one.often(1, keyLine(rotated)), ['quota-exceeded'])
  },
)

t.test('the admin API refuses a quota that is none', async (t) => {
  const { gateway } = await start(t, 'sqlite')
  const { account, secretKey } = await gateway.createAccount({ role: 'Admin' })
  for (const quota of [
    { limit: 0, per: 'day' },
    { limit: 1_000_000_000_001, per: 'day' },
    { limit: 1.5, per: 'day' },
    { limit: 1, per: 'week' },
    { limit: 1 },
    { limit: 1, per: 'day', id: 'of another key' },
    '1000/day',
  ]) {
    const path = `/api/v1/admin/accounts/${account.id}/keys`
    const { status, body } = await askJson(t, gateway.url, path, { name: 'x', quota }, [keyLine(secretKey)])
    t.equal(status, 400, JSON.stringify(quota))
    t.match(JSON.parse(body), { code: 'request-invalid', errors: [{ field: /^quota/ }] })
  }
})
