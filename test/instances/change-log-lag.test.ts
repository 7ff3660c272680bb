import t from 'tap'
import { openWebSocket, record, startWebSocketBackend } from '../gateway/support/web-socket.ts'
import { startGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { startRedis } from '../setup/redis.ts'
import { logSessions, openInspector } from '../store/redis/place.ts'
import { startTcpProxy } from '../store/redis/tcp-proxy.ts'
import { wordOf } from './instances.ts'

const config = {
  routes: [
    { name: 'any', path: '/any', upstream: 'backend', auth: 'any' },
    { name: 'ws', path: '/ws', upstream: 'backend', auth: 'any', websocket: true },
  ],
}

t.test('an instance 50,000 changes behind catches up at once and passes nothing revoked', async (t) => {
  const redis = await startRedis(t)
  const inspector = openInspector(t, redis)
  const wire = await startTcpProxy(t, redis.port)
  const backend = (await startWebSocketBackend(t)).url
  const options = { backend, config, driver: 'redis' } as const
  const other = await startGateway(t, { ...options, redis })
  const gateway = await startGateway(t, { ...options, redis: { ...redis, url: wire.url } })
  const readiness = async () => (await (await fetch(`${gateway.opsUrl}/readyz`)).text()).includes('"ok"')

  const [reset, bystander] = [await other.createAccount(), await other.createAccount()]
  const { JwtToken } = await other.tokens(reset)
  const credentials = [{ SecretKey: reset.secretKey }, { Authorization: `Bearer ${JwtToken}` }]
  const opened = await Promise.all(
    [...credentials, { SecretKey: bystander.secretKey }].map(async (headers) =>
      record(await openWebSocket(t, `${gateway.url}/ws`, { headers })),
    ),
  )

  wire.cut()
  await until('the store is missed', async () => !(await readiness()))
  await other.operate(({ defaultKeys }) => defaultKeys.resetSecretKey(reset.account.id, 0))
  await logSessions(inspector, 50_000)
  await until('the store is back', readiness)

  const words = await Promise.all(credentials.map((headers) => wordOf(`${gateway.url}/any`, headers)))
  t.strictSame(words, ['401 secret-key-invalid', '401 token-revoked'])
  await until('both WebSockets are closed', () => opened.slice(0, 2).every(({ closes }) => closes.length > 0))
  t.match(
    opened.map(({ closes }) => closes.map(({ code }) => code)),
    [[4001], [4001], []],
  )
})
