import t from 'tap'
import { openWebSocket, record, startWebSocketBackend } from '../../gateway/support/web-socket.ts'
import { startBackend } from '../../setup/backend.ts'
import { until } from '../../setup/net.ts'
import { atOnce, get, serveFleet, untilAllAnswer } from './fleet.ts'

interface Keys {
  readonly id: string
  readonly secretKey: string
}

const routes = [
  { name: 'all', path: '/all', upstream: 'backend', auth: 'none' },
  { name: 'keyed', path: '/keyed', upstream: 'backend', auth: 'secretKey', websocket: true },
]

t.test('a key reset takes effect in every worker', async (t) => {
  const backend = await startBackend(t)
  // The kernel chooses the worker of each request: however many one gets, the other must get some, too.
  const limits = { failures: { limit: 1_000_000 } }
  const fleet = await serveFleet(t, { backend: backend.url, config: { routes, limits } })
  const { id, secretKey } = (
    await fleet.run('accounts', 'create', '--email', 'a@example.com', '--json')
  ).json() as Keys
  await untilAllAnswer(fleet)
  const ask = () => get(`${fleet.url}/keyed`, { SecretKey: secretKey })
  const known = await atOnce(ask)
  t.strictSame([...new Set(known)], [200])
  const { secretKey: next } = (await fleet.run('keys', 'reset-secret', id, '--json')).json() as Keys
  const resetAt = performance.now()
  await until('both have refused it', async () => {
    await atOnce(ask)
    const refusing = fleet.lines().filter(({ code }) => code === 'secret-key-invalid')
    return new Set(refusing.map(({ worker }) => worker)).size === 2 || undefined
  })
  const late = await atOnce(ask)
  t.ok(performance.now() - resetAt < 10_000)
  t.notOk(late.includes(200))
  t.equal(await get(`${fleet.url}/keyed`, { SecretKey: next }), 200)
})

t.test('a key reset closes its WebSockets in every worker', async (t) => {
  const backend = await startWebSocketBackend(t)
  const fleet = await serveFleet(t, { backend: backend.url, config: { routes } })
  const { id, secretKey } = (
    await fleet.run('accounts', 'create', '--email', 'a@example.com', '--json')
  ).json() as Keys
  const headers = { SecretKey: secretKey }
  const received = await atOnce(async () => record(await openWebSocket(t, `${fleet.url}/keyed`, { headers })))
  await fleet.run('keys', 'reset-secret', id)
  await until('all are closed', () => received.every(({ closes }) => closes.length === 1) || undefined)
  for (const { closes } of received) t.equal(closes[0]?.code, 4001)
})
