import t, { type Test } from 'tap'
import { createAccountId, createKey } from '#platform/secrets/keys.ts'
import type { TestGateway } from '../setup/gateway.ts'
import { redisCommand } from '../setup/redis.ts'
import { startInstances, wordOf } from './instances.ts'

const limit = 4

async function start(t: Test) {
  const { gateways, redis } = await startInstances(t, {
    config: { limits: { failures: { limit, per: '1h' } }, trustedProxies: ['127.0.0.1'] },
  })
  const [first] = gateways
  const made = await first.createAccount()
  return { gateways, redis, first, made, tokens: await first.tokens(made) }
}

const from = (address: string) => ({ 'X-Forwarded-For': address })

/** A key that somebody could have. */
const guess = () => createKey('secretKey', createAccountId())

async function failOften(
  gateways: readonly TestGateway[],
  count: number,
  address: string,
  key = guess,
): Promise<string[]> {
  const words: string[] = []
  for (let failure = 0; failure < count; failure++) {
    const { url = '' } = gateways[failure % gateways.length] ?? {}
    words.push(await wordOf(`${url}/any`, { SecretKey: key(), ...from(address) }))
  }
  return words
}

const wrong = '401 secret-key-invalid'
const tooMany = '429 too-many-failures'

t.test('failures of a client address are limited across all instances', async (t) => {
  const { gateways } = await start(t)
  t.strictSame(await failOften(gateways, limit + 2, '192.0.2.1'), [
    ...Array<string>(limit).fill(wrong),
    tooMany,
    tooMany,
  ])
  t.strictSame(await failOften(gateways, 1, '192.0.2.2'), [wrong], 'another address has its own')
})

t.test('a valid credential passes whatever failures its address had', async (t) => {
  const { gateways, first, made, tokens } = await start(t)
  await failOften(gateways, limit + 5, '192.0.2.1')
  const here = from('192.0.2.1')
  for (const { url } of gateways) {
    t.equal(await wordOf(`${url}/any`, { SecretKey: made.secretKey, ...here }), '200')
    t.equal(await wordOf(`${url}/any`, { Authorization: `Bearer ${tokens.JwtToken}`, ...here }), '200')
    t.equal(await wordOf(`${url}/any`, here), '401 credentials-missing', 'none at all is no wrong one')
  }
  const pair = { SecretKey: made.secretKey, APIKey: made.apiKey }
  t.equal((await first.post('/api/v1/accounts/access-token', pair, here)).status, 200)
  t.equal(
    (await first.post('/api/v1/accounts/refresh-token', { token: tokens.RefreshToken }, here)).status,
    200,
  )
})

t.test('wrong key pairs count as failures, and their 429 has Retry-After', async (t) => {
  const { gateways, first, made } = await start(t)
  const pair = { SecretKey: made.secretKey, APIKey: 'gak_wrong' }
  const ask = () => first.post('/api/v1/accounts/access-token', pair, from('192.0.2.1'))
  for (let failure = 0; failure < limit; failure++) t.equal((await ask()).status, 401)
  const response = await ask()
  t.match(await response.json(), { status: 429, code: 'too-many-failures' })
  t.match(Object.fromEntries(response.headers), {
    'ratelimit-limit': String(limit),
    'retry-after': /^[0-9]+$/,
  })
  t.strictSame(await failOften(gateways, 1, '192.0.2.1'), [tooMany], 'they are counted with the keys')
})

t.test('an expired or revoked access token does not count as a failure', async (t) => {
  const { gateways, first, tokens } = await start(t)
  await first.post('/api/v1/accounts/revoke-token', { token: tokens.RefreshToken })
  const headers = { Authorization: `Bearer ${tokens.JwtToken}`, ...from('192.0.2.1') }
  for (let request = 0; request < 2 * limit; request++) {
    const { url = '' } = gateways[request % gateways.length] ?? {}
    t.equal(await wordOf(`${url}/any`, headers), '401 token-revoked')
  }
})

t.test('malformed keys are counted without the store', async (t) => {
  const { gateways, redis } = await start(t)
  const commands = async () =>
    Number(/cmdstat_evalsha:calls=(\d+)/.exec(await redisCommand(redis.port, 'INFO commandstats'))?.[1])
  const spentDuring = async (during: () => Promise<unknown>) => {
    const before = await commands()
    await during()
    return (await commands()) - before
  }
  const [first] = gateways
  let words: string[] = []
  const spent = await spentDuring(async () => {
    words = await failOften([first], 200, '192.0.2.1', () => 'gsk_wrong')
  })
  t.strictSame(words, [...Array<string>(limit).fill(wrong), ...Array<string>(200 - limit).fill(tooMany)])
  // The log is read all the time, some 20 times a second by both.
  t.ok(spent < 100, `${spent} scripts ran`)
})
