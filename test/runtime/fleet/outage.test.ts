import t from 'tap'
import { startBackend } from '../../setup/backend.ts'
import { until } from '../../setup/net.ts'
import { startRedis } from '../../setup/redis.ts'
import { get, isAlive, serveFleet, untilAllAnswer } from './fleet.ts'

interface Keys {
  readonly secretKey: string
  readonly apiKey: string
}

const routes = [
  { name: 'all', path: '/all', upstream: 'backend', auth: 'none' },
  { name: 'any', path: '/any', upstream: 'backend', auth: 'any' },
]

t.test('a worker replaced in an outage knows every caller the instance knows', async (t) => {
  const redis = await startRedis(t)
  const backend = (await startBackend(t)).url
  const config = {
    routes,
    keys: { sealingKey: { file: 'sealing.key' } },
    store: { driver: 'redis', redis: { url: redis.url } },
  }
  const files = { 'sealing.key': Buffer.alloc(32, 7).toString('base64') }
  const accounts: Keys[] = []
  // Before the start: what a worker looks up while another has yet to read of its creation is not shared.
  const fleet = await serveFleet(t, {
    backend,
    config,
    files,
    before: async ({ run }) => {
      for (const name of ['a', 'b', 'c', 'd', 'e', 'stranger']) {
        accounts.push(
          (await run('accounts', 'create', '--email', `${name}@example.com`, '--json')).json() as Keys,
        )
      }
    },
  })
  await untilAllAnswer(fleet)
  const stranger = accounts.pop() as Keys
  const credentials: Readonly<Record<string, string>>[] = []
  for (const keys of accounts) {
    const JwtToken = await until('it has a token', () => tokenOf(fleet.url, keys))
    credentials.push({ SecretKey: keys.secretKey }, { Authorization: `Bearer ${JwtToken}` })
  }
  const askAll = () => Promise.all(credentials.map((headers) => get(`${fleet.url}/any`, headers)))
  // One worker has cached some of them, the other the others.
  await until('all are known', async () => (await askAll()).every((status) => status === 200))

  await redis.stop()
  const statuses = new Set<number>()
  for (const pid of fleet.pids().slice(0, 2)) {
    const before = fleet.pids().length
    process.kill(pid, 'SIGKILL')
    await until('it is gone', () => !isAlive(pid))
    await until('another takes its place', async () => {
      for (const status of await askAll()) statuses.add(status)
      return fleet.pids().length > before
    })
  }
  for (let turn = 0; turn < 5; turn++) for (const status of await askAll()) statuses.add(status)
  t.strictSame([...statuses], [200])
  t.equal(await get(`${fleet.url}/any`, { SecretKey: stranger.secretKey }), 503, 'who is not known waits')
  t.match(await (await fetch(`${fleet.opsUrl}/readyz`)).text(), /degraded/)

  await redis.start()
  await until('the store is back', async () => {
    return (await (await fetch(`${fleet.opsUrl}/readyz`)).text()).includes('"ok"')
  })
})

/** undefined = not yet: on a busy machine the store may seem unreachable. */
async function tokenOf(url: string, { secretKey, apiKey }: Keys): Promise<string | undefined> {
  const response = await fetch(`${url}/api/v1/accounts/access-token`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Connection: 'close' },
    body: JSON.stringify({ SecretKey: secretKey, APIKey: apiKey }),
  })
  return ((await response.json()) as { readonly JwtToken?: string }).JwtToken
}
