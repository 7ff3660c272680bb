import t from 'tap'
import { startGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { redisCommand } from '../setup/redis.ts'
import { startInstances, wordOf } from './instances.ts'

const setFormat = (port: number, format: number) => redisCommand(port, `SET gh:{account}:format ${format}`)

t.test('a gateway whose data a newer version upgraded serves cached callers, and logs why', async (t) => {
  const { redis, gateways } = await startInstances(t)
  const [gateway] = gateways
  const known = await gateway.createAccount()
  const stranger = await gateway.createAccount()
  const word = (secretKey: string) => wordOf(`${gateway.url}/any`, { SecretKey: secretKey })
  const readiness = async () =>
    ((await (await fetch(`${gateway.opsUrl}/readyz`)).json()) as { readonly status: string }).status
  t.equal(await word(known.secretKey), '200')

  await setFormat(redis.port, 2)
  await until('it is seen', async () => (await readiness()) === 'degraded' || undefined)
  t.equal(await word(known.secretKey), '200')
  t.equal(await word(stranger.secretKey), '503 store-unavailable')
  const reads = async () =>
    Number(/cmdstat_evalsha:calls=(\d+)/.exec(await redisCommand(redis.port, 'INFO commandstats'))?.[1])
  const before = await reads()
  await until('it was read many times', async () => (await reads()) - before > 10 || undefined)
  const said = gateway.logLines.filter((line) => line.includes('newer version of Gatehouse'))
  t.equal(said.length, 1, 'once')
  t.match(JSON.parse(said[0] ?? ''), { level: 'error', msg: /run that version; or restore a backup/ })

  await t.rejects(startGateway(t, { driver: 'redis', redis }), {
    name: 'OperatorError',
    message: /newer version of Gatehouse/,
  })
  await setFormat(redis.port, 1)
  await until('it is used again', async () => (await readiness()) === 'ok' || undefined)
  t.equal(await word(stranger.secretKey), '200')
})
