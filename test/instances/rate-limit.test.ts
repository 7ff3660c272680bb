import t, { type Test } from 'tap'
import type { TestGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { startInstances } from './instances.ts'

const limit = 6

const routes = [
  {
    name: 'by-account',
    path: '/by-account',
    upstream: 'backend',
    auth: 'any',
    rateLimit: { limit, per: '1h' },
  },
  {
    name: 'by-ip',
    path: '/by-ip',
    upstream: 'backend',
    auth: 'none',
    rateLimit: { limit, per: '1h', by: 'ip' },
  },
]

async function start(t: Test) {
  const { redis, gateways } = await startInstances(t, {
    config: { routes, trustedProxies: ['127.0.0.1'] },
  })
  const [first] = gateways
  const newKey = async (name: string) =>
    (await first.createAccount({ email: `${name}@example.com` })).secretKey
  return { redis, gateways, newKey }
}

/** Asks so often, of each gateway in turn. @returns the statuses */
async function askOften(
  gateways: readonly TestGateway[],
  count: number,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<number[]> {
  const statuses: number[] = []
  for (let request = 0; request < count; request++) {
    const { url = '' } = gateways[request % gateways.length] ?? {}
    statuses.push((await fetch(url + path, { headers })).status)
  }
  return statuses
}

const allowed = (count: number) => Array<number>(count).fill(200)

t.test("an account's rate is shared by all instances", async (t) => {
  const { gateways, newKey } = await start(t)
  const [ada, bob] = [{ SecretKey: await newKey('ada') }, { SecretKey: await newKey('bob') }]
  t.strictSame(await askOften(gateways, limit + 2, '/by-account', ada), [...allowed(limit), 429, 429])
  t.strictSame(await askOften(gateways, limit, '/by-account', bob), allowed(limit), 'another has its own')
  const [first] = gateways
  const response = await fetch(`${first.url}/by-account`, { headers: ada })
  t.match(await response.json(), { status: 429, code: 'rate-limited' })
  t.match(Object.fromEntries(response.headers), {
    'ratelimit-limit': String(limit),
    'ratelimit-remaining': '0',
    'ratelimit-reset': /^[0-9]+$/,
    'retry-after': /^[0-9]+$/,
  })
  const retryAfterS = Number(response.headers.get('retry-after'))
  t.ok(retryAfterS > 590 && retryAfterS <= 600, 'one comes free every ten minutes')
  const metrics = await (await fetch(`${first.opsUrl}/metrics`)).text()
  t.match(metrics, /^gatehouse_rate_limited_total\{route="by-account"\} [1-9]/m)
})

t.test('a refused request does not use up a rate', async (t) => {
  const { gateways, newKey } = await start(t)
  const ada = { SecretKey: await newKey('ada') }
  t.strictSame(await askOften(gateways, 4, '/by-account', { SecretKey: 'gsk_wrong' }), [401, 401, 401, 401])
  t.strictSame(await askOften(gateways, limit + 1, '/by-account', ada), [...allowed(limit), 429])
})

t.test('rates count each client address, an IPv6 /64 as one', async (t) => {
  const { gateways } = await start(t)
  const from = (address: string) => ({ 'X-Forwarded-For': address })
  t.strictSame(await askOften(gateways, limit + 1, '/by-ip', from('192.0.2.1')), [...allowed(limit), 429])
  t.strictSame(await askOften(gateways, 1, '/by-ip', from('192.0.2.2')), [200])
  t.strictSame(await askOften(gateways, limit, '/by-ip', from('2001:db8::1')), allowed(limit))
  t.strictSame(await askOften(gateways, 1, '/by-ip', from('2001:db8::2')), [429])
  t.strictSame(await askOften(gateways, 1, '/by-ip', from('2001:db8:0:1::2')), [200])
})

t.test('without Redis each instance allows its share of a rate', async (t) => {
  const { redis, gateways, newKey } = await start(t)
  const ada = { SecretKey: await newKey('ada') }
  await askOften(gateways, 2, '/by-account', ada)
  await redis.stop()
  for (const gateway of gateways) {
    await until('the outage is seen', async () => {
      const { status } = (await (await fetch(`${gateway.opsUrl}/readyz`)).json()) as { status: string }
      return status === 'degraded'
    })
    const statuses = await askOften([gateway], limit + 1, '/by-account', ada)
    const passed = statuses.filter((status) => status === 200).length
    t.ok(passed >= 1 && passed <= limit, `${passed} of ${limit}`)
    t.equal(statuses.at(-1), 429)
  }
})
