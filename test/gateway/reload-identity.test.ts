import t, { type Test } from 'tap'
import { startBoth } from '../setup/both.ts'
import type { TestGatewayOptions } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { ask } from './support/ask.ts'
import { readMetrics } from './support/metrics.ts'
import { reloadWith, taken } from './support/reload.ts'

async function start(t: Test, options: TestGatewayOptions = {}) {
  const gateway = await startBoth(t, options)
  const user = await gateway.createAccount()
  const status = async (secretKey = user.secretKey) =>
    (await ask(t, gateway.url, 'GET /key', [`SecretKey: ${secretKey}`])).status
  return { gateway, user, status }
}

t.test('cached callers survive a reload that does not concern them', async (t) => {
  const { gateway, status } = await start(t)
  t.equal(await status(), 200)
  const misses = async () =>
    (await readMetrics(gateway.opsUrl)).value('gatehouse_key_cache_requests_total', { result: 'miss' })
  const before = await misses()
  t.match(await reloadWith(gateway, { limits: { headers: '32KiB' } }), taken)
  t.equal(await status(), 200)
  t.equal(await misses(), before)
  t.match(await reloadWith(gateway, { cache: { entries: 10 } }), taken)
  t.equal(await status(), 200)
  t.equal(await misses(), before + 1, 'another cache begins empty')
})

t.test('revocations arrive after any number of reloads', async (t) => {
  const { gateway, user, status } = await start(t)
  for (const ttl of ['1m', '2m', '3m']) {
    t.match(await reloadWith(gateway, { cache: { ttl } }), taken)
    t.equal(await status(), 200)
  }
  const { JwtToken } = await gateway.tokens(user)
  const bearer = async () =>
    (await ask(t, gateway.url, 'GET /bearer', [`Authorization: Bearer ${JwtToken}`])).status
  t.equal(await bearer(), 200)
  await gateway.operate(({ defaultKeys }) => defaultKeys.resetSecretKey(user.account.id, 0))
  await until('the key is refused', async () => (await status()) === 401 || undefined, 1_000)
  t.equal(await bearer(), 401)
})

t.test('a reload during a store outage changes routes and keeps the caches', async (t) => {
  const { gateway, user, status } = await start(t, { driver: 'redis' })
  t.equal(await status(), 200)
  await gateway.redis?.stop()
  await until('it is noticed', async () => {
    const answer = (await (await fetch(`${gateway.opsUrl}/readyz`)).json()) as { readonly status: string }
    return answer.status === 'degraded' || undefined
  })
  const route = { name: 'new', path: '/new', upstream: 'backend', auth: 'secretKey' }
  t.match(await reloadWith(gateway, { routes: [route] }), taken)
  const known = await ask(t, gateway.url, 'GET /new', [`SecretKey: ${user.secretKey}`])
  t.equal(known.status, 200)
  const refused = await reloadWith(gateway, { tokens: { accessLifetime: '1m' } })
  t.match(refused, { code: 503, problems: [/the store is unreachable/] })
  const still = await ask(t, gateway.url, 'GET /new', [`SecretKey: ${user.secretKey}`])
  t.equal(still.status, 200)
})
