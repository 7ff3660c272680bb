import t from 'tap'
import type { Operator } from '#cli/operator.ts'
import { createSigningKeys } from '#identity/tokens/signing-keys.ts'
import { createSealer } from '#platform/secrets/sealing.ts'
import { reloadWith, taken } from '../gateway/support/reload.ts'
import { startBackend } from '../setup/backend.ts'
import { startGateway, type TestGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { redisCommand, startRedis } from '../setup/redis.ts'
import { decidedWordOf, startInstances, wordOf } from './instances.ts'

/** The signing keys of a store as an instance with another sealing key has them. */
function strangeKeys({ store }: Operator) {
  const sealer = createSealer(Buffer.alloc(32, 9))
  return createSigningKeys({ store, sealer, algorithm: 'RS256', clock: Date.now })
}

function linesOf({ logLines }: TestGateway, said: RegExp): readonly string[] {
  return logLines.filter((line) => said.test(line))
}

async function readiness({ opsUrl }: TestGateway): Promise<string> {
  return ((await (await fetch(`${opsUrl}/readyz`)).json()) as { readonly status: string }).status
}

t.test('an unreadable signing key keeps no retired key alive on any instance', async (t) => {
  const { gateways } = await startInstances(t)
  const [first] = gateways
  const account = await first.createAccount()
  const withToken = (token: string) => ({ Authorization: `Bearer ${token}` })
  const old = (await first.tokens(account)).JwtToken
  for (const { url } of gateways) t.equal(await wordOf(`${url}/bearer`, withToken(old)), '200')
  const [leaked] = await first.operate(({ signingKeys }) => signingKeys.load())
  await first.operate((operator) => strangeKeys(operator).rotate('now'))
  await first.operate(({ signingKeys }) => signingKeys.rotate('now'))
  await first.operate(({ signingKeys }) => signingKeys.retire(leaked?.kid ?? ''))
  for (const { url } of gateways) {
    await until(
      'its tokens end',
      async () => (await decidedWordOf(`${url}/bearer`, withToken(old))) === '401 token-invalid',
    )
  }
  for (const gateway of gateways) {
    const { JwtToken } = await gateway.tokens(account)
    t.equal(await decidedWordOf(`${gateway.url}/bearer`, withToken(JwtToken)), '200')
    t.equal(linesOf(gateway, /its tokens are rejected/).length, 1, 'it is logged once')
    t.match(await reloadWith(gateway, { tokens: { accessLifetime: '1m' } }), taken)
    t.equal(
      await decidedWordOf(`${gateway.url}/bearer`, withToken(JwtToken)),
      '200',
      'a reload finds the keys',
    )
  }
})

t.test('a gateway whose late Redis has another sealing key logs it once and waits', async (t) => {
  const redis = await startRedis(t, ['--appendonly', 'yes', '--appendfsync', 'always'])
  const config = { tokens: { algorithm: 'RS256' } }
  const backend = (await startBackend(t)).url
  const options = { driver: 'redis', redis, config, backend } as const
  const right = await startGateway(t, options)
  const kids = await right.operate(async (operator) => {
    const [own] = await operator.signingKeys.load()
    const strange = await strangeKeys(operator).rotate('now')
    await operator.store.retireSigningKey(own?.kid ?? '')
    return { strange: strange.kid }
  })
  await right.shutDown()
  await redis.stop()
  const late = await startGateway(t, options)
  await redis.start()
  await until('it has met it', () => linesOf(late, /store reachable again/)[0])
  const readings = async () => {
    const [, calls] =
      /cmdstat_evalsha:calls=(\d+)/.exec(await redisCommand(redis.port, 'INFO commandstats')) ?? []
    return Number(calls ?? 0)
  }
  const before = await readings()
  await until('it has read the log many times', async () => (await readings()) > before + 20)
  t.equal(linesOf(late, /failed to load signing keys/).length, 1)
  t.equal(await readiness(late), 'store-unavailable')
  const refused = await reloadWith(late, { tokens: { ...config.tokens, accessLifetime: '1m' } })
  t.match(refused, { code: 503, problems: [/cannot be unsealed with this sealing key/] })
  await late.operate(({ signingKeys }) => signingKeys.retire(kids.strange))
  await until('it is ready', async () => (await readiness(late)) === 'ok')
  const account = await late.createAccount()
  const { JwtToken } = await late.tokens(account)
  t.equal(await decidedWordOf(`${late.url}/bearer`, { Authorization: `Bearer ${JwtToken}` }), '200')
})
