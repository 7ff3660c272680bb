import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { startGateway, type TestGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import type { RedisServer } from '../setup/redis.ts'
import { startInstances, wordOf } from './instances.ts'

const outOfReach = '503 store-unavailable'

async function readiness({ opsUrl }: TestGateway): Promise<string> {
  const response = await fetch(`${opsUrl}/readyz`)
  return ((await response.json()) as { readonly status: string }).status
}

function connect(t: Test, { url }: RedisServer): Redis {
  const redis = new Redis(url)
  t.teardown(() => redis.disconnect())
  return redis
}

/** What a gateway has logged of a loss. */
function losses({ logLines }: TestGateway): string[] {
  return logLines
    .map((line) => (JSON.parse(line) as { readonly msg: string }).msg)
    .filter((msg) => /^Redis has/.test(msg))
}

/** Two gateways that know somebody, with a key and with a token. */
async function startKnowing(t: Test) {
  const instances = await startInstances(t)
  const [first] = instances.gateways
  const known = await first.createAccount()
  const { JwtToken } = await first.tokens(known)
  const credentials = [{ SecretKey: known.secretKey }, { Authorization: `Bearer ${JwtToken}` }]
  const words = async () => {
    const urls = instances.gateways.map(({ url }) => `${url}/any`)
    const asked = urls.flatMap((url) => credentials.map((headers) => wordOf(url, headers)))
    return [...new Set(await Promise.all(asked))]
  }
  t.strictSame(await words(), ['200'])
  return { ...instances, words, redisClient: connect(t, instances.redis) }
}

t.test('an instance that knew a flushed store does not trust the new one', async (t) => {
  const { gateways, redis, words, redisClient } = await startKnowing(t)
  await redisClient.multi().flushall().set('gh:{account}:store-id', 'another').exec()
  const [first, second] = gateways
  // As a command does that comes first.
  const other = await first.createAccount()
  for (const gateway of gateways) {
    await until('the loss is seen', async () => (await readiness(gateway)) === 'degraded')
  }
  await first.operate(({ signingKeys }) => signingKeys.rotate('now'))
  const deadline = performance.now() + 500
  const answers = new Set<string>()
  while (performance.now() < deadline) {
    for (const word of await words()) answers.add(word)
    for (const { url } of gateways)
      t.equal(await wordOf(`${url}/any`, { SecretKey: other.secretKey }), outOfReach)
  }
  t.strictSame([...answers], ['200'], 'who is known goes on')
  for (const gateway of [first, second]) {
    const logged = losses(gateway)
    t.equal(logged.length, 1, 'it is logged once')
    t.match(logged[0], /restart all gateways/, 'with what to do')
  }
  const restarted = await startGateway(t, { driver: 'redis', redis })
  t.equal(await readiness(restarted), 'ok')
})

t.test('an instance started after a flush waits for the data like the others', async (t) => {
  const { gateways, redis, words, redisClient } = await startKnowing(t)
  const stranger = await gateways[0].createAccount()
  const keys = await redisClient.keys('*')
  const copies = await Promise.all(keys.map((key) => redisClient.dumpBuffer(key)))
  await redisClient.flushall()
  await until('the loss is seen', async () => (await readiness(gateways[1])) === 'degraded')
  const late = await startGateway(t, { driver: 'redis', redis })
  t.equal(await readiness(late), 'store-unavailable')
  for (const { url } of [...gateways, late]) {
    t.equal(await wordOf(`${url}/any`, { SecretKey: stranger.secretKey }), outOfReach)
  }
  t.strictSame(await words(), ['200'])
  t.match(losses(late), [/stop all gateways, wait/])
  await redisClient.del('gh:instances')
  for (const [index, key] of keys.entries()) {
    if (key.includes('{account}')) await redisClient.restore(key, 0, copies[index] ?? '', 'REPLACE')
  }
  for (const gateway of [...gateways, late]) {
    await until('it is whole again', async () => (await readiness(gateway)) === 'ok')
    t.not(await wordOf(`${gateway.url}/any`, { SecretKey: stranger.secretKey }), outOfReach)
  }
  t.strictSame(await words(), ['200'])
})
