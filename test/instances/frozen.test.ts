import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { get, serveFleet } from '../runtime/fleet/fleet.ts'
import { startBackend } from '../setup/backend.ts'
import { until } from '../setup/net.ts'
import { type RedisServer, redisCommand, startRedis } from '../setup/redis.ts'
import { startTcpProxy, type TcpProxy } from '../store/redis/tcp-proxy.ts'

interface Keys {
  readonly id: string
  readonly secretKey: string
  readonly apiKey: string
}

interface Store {
  readonly redis: RedisServer
  readonly wire: TcpProxy
}

/** What becomes of the messages about changes while the gateway is stopped. */
const messages: Readonly<Record<string, (store: Store) => unknown>> = {
  'that come': () => {},
  'whose connection was closed': ({ redis }) => redisCommand(redis.port, 'CLIENT KILL TYPE pubsub'),
  'whose connection fell silent': ({ wire }) => wire.cutMatching('subscribe'),
}

const frozenMs = 1_000
const routes = [{ name: 'any', path: '/', upstream: 'backend', auth: 'any' }]

/** A gateway on Redis, and a caller that it knows by key and by token. @param args of redis-server */
async function startKnowing(t: Test, args: readonly string[] = []) {
  const redis = await startRedis(t, args)
  const wire = await startTcpProxy(t, redis.port)
  const backend = (await startBackend(t)).url
  const config = {
    routes,
    keys: { sealingKey: { file: 'sealing.key' } },
    store: { driver: 'redis', redis: { url: wire.url } },
    limits: { failures: { limit: 1_000_000 } },
  }
  const files = { 'sealing.key': Buffer.alloc(32, 7).toString('base64') }
  const gateway = await serveFleet(t, { backend, workers: 1, config, files })
  await until('its store answers', async () => {
    return (await (await fetch(`${gateway.opsUrl}/readyz`)).text()).includes('"ok"')
  })
  const account = (
    await gateway.run('accounts', 'create', '--email', 'a@example.com', '--json')
  ).json() as Keys
  const JwtToken = await until('it has a token', () => tokenOf(gateway.url, account))
  const credentials = [{ SecretKey: account.secretKey }, { Authorization: `Bearer ${JwtToken}` }]
  const ask = () => Promise.all(credentials.map((headers) => get(`${gateway.url}/any`, headers)))
  /** Repeats a request for this time. @returns every status */
  const askFor = async (ms: number) => {
    const statuses: number[] = []
    for (const endsAt = performance.now() + ms; performance.now() < endsAt; await pause(10))
      statuses.push(...(await ask()))
    return statuses
  }
  const signal = (name: NodeJS.Signals) => process.kill(gateway.pid, name)
  t.teardown(() => gateway.child.kill('SIGCONT'))
  /** Lets a suspended gateway go on after a while. @returns the statuses of what waited for it, and of what follows */
  const resume = async () => {
    // They wait in the kernel, and are read before any timer of the gateway has run.
    const waiting = Array.from({ length: 10 }, ask)
    await pause(frozenMs)
    signal('SIGCONT')
    const statuses = new Set((await Promise.all(waiting)).flat())
    for (const status of await askFor(500)) statuses.add(status)
    // A busy machine may take the store for gone.
    statuses.delete(503)
    return [...statuses]
  }
  await until('the caller is known', async () => (await ask()).every((status) => status === 200))
  // A change that was announced is applied once more when the log is read: then the caller is looked up again.
  await askFor(500)
  return { redis, wire, gateway, account, ask, askFor, resume, signal }
}

/** undefined = not now: a busy machine may take the store for gone. */
async function tokenOf(url: string, keys: Keys): Promise<string | undefined> {
  return (await tokensOf(url, keys)).JwtToken
}

interface Tokens {
  readonly JwtToken?: string
  readonly RefreshToken?: string
}

async function tokensOf(url: string, { secretKey, apiKey }: Keys): Promise<Tokens> {
  const response = await fetch(`${url}/api/v1/accounts/access-token`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ SecretKey: secretKey, APIKey: apiKey }),
  })
  return (await response.json()) as Tokens
}

for (const [which, treat] of Object.entries(messages)) {
  t.test(`a suspended gateway accepts nothing revoked meanwhile, with messages ${which}`, async (t) => {
    const { redis, wire, gateway, account, resume, signal } = await startKnowing(t)
    signal('SIGSTOP')
    await treat({ redis, wire })
    await gateway.run('keys', 'reset-secret', account.id, '--json')
    t.strictSame(await resume(), [401])
  })
}

t.test('a gateway suspended in an outage accepts nothing revoked once its store is back', async (t) => {
  const args = ['--appendonly', 'yes', '--appendfsync', 'always']
  const { redis, gateway, account, askFor, resume, signal } = await startKnowing(t, args)
  await redis.stop()
  await until('the outage is seen', async () => {
    return !(await (await fetch(`${gateway.opsUrl}/readyz`)).text()).includes('"ok"')
  })
  t.strictSame([...new Set(await askFor(500))], [200])
  signal('SIGSTOP')
  await redis.start()
  await gateway.run('keys', 'reset-secret', account.id, '--json')
  t.strictSame(await resume(), [401])
})

t.test('a suspended gateway keeps serving cached callers if its store is gone', async (t) => {
  const { redis, ask, signal } = await startKnowing(t)
  signal('SIGSTOP')
  await redis.stop()
  const waiting = Array.from({ length: 10 }, ask)
  await pause(frozenMs)
  signal('SIGCONT')
  t.strictSame([...new Set((await Promise.all(waiting)).flat())], [200])
  t.strictSame(await ask(), [200, 200])
})

t.test('refreshes in flight while the gateway is suspended are answered, none 503', async (t) => {
  const { gateway, account, signal } = await startKnowing(t)
  const statuses = new Map<number, number>()
  let isOver = false
  /** Refreshes one session again and again. */
  async function refreshOn(): Promise<void> {
    const { RefreshToken } = await until('it has a session', async () => {
      const tokens = await tokensOf(gateway.url, account)
      return tokens.RefreshToken === undefined ? undefined : tokens
    })
    let token = RefreshToken
    while (!isOver) {
      const response = await fetch(`${gateway.url}/api/v1/accounts/refresh-token`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ token }),
      })
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
      const { refreshToken } = (await response.json()) as { readonly refreshToken?: string }
      token = refreshToken ?? token
    }
  }
  const sessions = Array.from({ length: 8 }, refreshOn)
  for (const stoppedMs of [260, 300, 400, 500, 600, 1_200]) {
    const before = statuses.get(200) ?? 0
    await until('some are refreshed', () => (statuses.get(200) ?? 0) > before + 20 || undefined)
    signal('SIGSTOP')
    await pause(stoppedMs)
    signal('SIGCONT')
  }
  isOver = true
  await Promise.all(sessions)
  t.strictSame([...statuses.keys()], [200])
})
