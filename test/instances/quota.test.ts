import { Agent, request } from 'node:http'
import t, { type Test } from 'tap'
import { startBackend } from '../setup/backend.ts'
import { startGateway, type TestGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { startRedis } from '../setup/redis.ts'

// slow: starts several instances

const limit = 10_000
const connections = 64

async function startThree(t: Test, plans: object) {
  const redis = await startRedis(t)
  const { url: backend } = await startBackend(t)
  const config = { plans, log: { access: false } }
  const start = () => startGateway(t, { backend, driver: 'redis', redis, config })
  return { redis, start, gateways: [await start(), await start(), await start()] as const }
}

function statusOf(agent: Agent, url: string, secretKey: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/key`, { agent, headers: { SecretKey: secretKey } }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0))
    })
    sent.on('error', reject).end()
  })
}

/** Sends requests over so many connections, each to one gateway, until each has been refused. @returns how many passed */
async function passOverAll(t: Test, gateways: readonly TestGateway[], secretKey: string): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  t.teardown(() => agent.destroy())
  let passed = 0
  async function useConnection(index: number): Promise<void> {
    const { url = '' } = gateways[index % gateways.length] ?? {}
    for (;;) {
      const status = await statusOf(agent, url, secretKey)
      if (status === 429) return
      if (status !== 200) throw new Error(`status ${status}`)
      passed++
    }
  }
  await Promise.all(Array.from({ length: connections }, (_, index) => useConnection(index)))
  return passed
}

t.test(`of a quota of ${limit} on three instances at least that passes, and at most 1 % more`, async (t) => {
  const { gateways } = await startThree(t, { free: { quota: { limit, per: 'month' } } })
  const { secretKey } = await gateways[0].createAccount({ plan: 'free' })
  const passed = await passOverAll(t, gateways, secretKey)
  t.comment(`${passed} passed`)
  t.ok(passed >= limit && passed <= limit * 1.01, `${passed} passed`)
})

t.test('a small quota on three instances is exact', async (t) => {
  const { gateways } = await startThree(t, { free: { quota: { limit: 90, per: 'month' } } })
  const { secretKey } = await gateways[0].createAccount({ plan: 'free' })
  t.equal(await passOverAll(t, gateways, secretKey), 90)
})

t.test('a key that is rotated meanwhile passes its quota on three instances, and no more', async (t) => {
  const { gateways } = await startThree(t, {})
  const { account } = await gateways[0].createAccount()
  const input = { name: 'ci', scopes: [], addresses: [], expiresAt: undefined }
  const quota = { limit: 600, per: 'month' } as const
  const first = await gateways[0].operate(({ secretKeys }) =>
    secretKeys.create(account.id, { ...input, quota }),
  )
  const agent = new Agent({ keepAlive: true })
  t.teardown(() => agent.destroy())
  for (let count = 0; count < 300; count++)
    t.equal(await statusOf(agent, gateways[count % 3]?.url ?? '', first), 200)
  const { key: second } = await gateways[1].operate(({ secretKeys }) =>
    secretKeys.rotate(account.id, 'ci', 3_600),
  )
  const passed = await passOverAll(t, gateways, second)
  t.ok(passed >= 300 && passed <= 306, `${passed} passed`)
  t.equal(await statusOf(agent, gateways[2].url, first), 429, 'the old key has the same quota')
})

t.test('a quota is kept when an instance is replaced', async (t) => {
  const { gateways, start } = await startThree(t, { free: { quota: { limit: 600, per: 'month' } } })
  const [first, second, third] = gateways
  const { secretKey } = await first.createAccount({ plan: 'free' })
  const agent = new Agent({ keepAlive: true })
  t.teardown(() => agent.destroy())
  for (let count = 0; count < 100; count++) await statusOf(agent, first.url, secretKey)
  await first.shutDown()
  const passed = await passOverAll(t, [second, third, await start()], secretKey)
  t.ok(passed >= 500 && passed <= 506, `${passed} passed`)
})

t.test('without Redis each instance allows its share of a quota', async (t) => {
  const { redis, gateways } = await startThree(t, { free: { quota: { limit: 60, per: 'month' } } })
  const { secretKey } = await gateways[0].createAccount({ plan: 'free' })
  const agent = new Agent({ keepAlive: true })
  t.teardown(() => agent.destroy())
  for (const { url } of gateways) t.equal(await statusOf(agent, url, secretKey), 200)
  await redis.stop()
  for (const gateway of gateways) {
    await until('the outage is seen', async () => {
      const { status } = (await (await fetch(`${gateway.opsUrl}/readyz`)).json()) as { status: string }
      return status === 'degraded'
    })
    const passed = await passOverAll(t, [gateway], secretKey)
    t.ok(passed >= 1 && passed < 60, `${passed} passed`)
  }
})
