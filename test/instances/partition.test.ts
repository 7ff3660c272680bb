import t from 'tap'
import { startBackend } from '../setup/backend.ts'
import { startGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { startRedis } from '../setup/redis.ts'
import { startTcpProxy } from '../store/redis/tcp-proxy.ts'
import { wordOf } from './instances.ts'

t.test('a caller changed during a partition is served, though the change is published', async (t) => {
  const redis = await startRedis(t)
  const wire = await startTcpProxy(t, redis.port)
  const backend = (await startBackend(t)).url
  const other = await startGateway(t, { backend, driver: 'redis', redis })
  const gateway = await startGateway(t, { backend, driver: 'redis', redis: { ...redis, url: wire.url } })
  const accounts = await Promise.all(Array.from({ length: 5 }, () => other.createAccount()))
  const words = () =>
    Promise.all(accounts.map(({ secretKey }) => wordOf(`${gateway.url}/any`, { SecretKey: secretKey })))
  await until('all are known', async () => (await words()).every((word) => word === '200'))

  // What is published still comes: its connection says nothing but that it listens.
  t.ok(wire.cutMatching('evalsha') > 0)
  const readiness = async () => (await (await fetch(`${gateway.opsUrl}/readyz`)).text()).includes('"ok"')
  await until('the store is missed', async () => !(await readiness()))
  await other.operate(async (operator) => {
    for (const { account } of accounts) await operator.accounts.update(account.id, { lastName: 'Changed' })
  })
  const answers = new Set<string>()
  let asked = 0
  await until('the store is back', async () => {
    asked++
    for (const word of await words()) answers.add(word)
    return readiness()
  })
  for (const word of await words()) answers.add(word)
  t.ok(asked > 1)
  t.strictSame([...answers], ['200'])

  const [{ account, secretKey } = { account: { id: '' }, secretKey: '' }] = accounts
  await other.operate((operator) => operator.defaultKeys.resetSecretKey(account.id, 0))
  await until('what is published counts again', async () => {
    return (await wordOf(`${gateway.url}/any`, { SecretKey: secretKey })) === '401 secret-key-invalid'
  })
})
