import t from 'tap'
import { startBackend } from '../../setup/backend.ts'
import { until } from '../../setup/net.ts'
import { type Fleet, get, serveFleet, untilAllAnswer } from './fleet.ts'

// slow: starts several fleets

const route = { name: 'all', path: '/all', upstream: 'backend', auth: 'none' }

/** Counts of statuses, for concurrent requests on separate connections. */
async function statuses(fleet: Fleet, count: number, path: string, headers = {}) {
  const answers = await Promise.all(Array.from({ length: count }, () => get(`${fleet.url}${path}`, headers)))
  const counted: Record<number, number> = {}
  for (const status of answers) counted[status] = (counted[status] ?? 0) + 1
  return counted
}

t.test('a rate holds over all workers, exactly', async (t) => {
  const backend = await startBackend(t)
  const limited = {
    ...route,
    name: 'limited',
    path: '/limited',
    rateLimit: { limit: 20, per: '1h', by: 'ip' },
  }
  const fleet = await serveFleet(t, { backend: backend.url, config: { routes: [route, limited] } })
  await untilAllAnswer(fleet)
  t.strictSame(await statuses(fleet, 60, '/limited'), { 200: 20, 429: 40 })
  await until('each of them has refused some', async () => {
    t.strictSame(await statuses(fleet, 20, '/limited'), { 429: 20 })
    const both = fleet.lines().filter(({ status, route }) => status === 429 && route === 'limited')
    return new Set(both.map(({ worker }) => worker)).size === 2 || undefined
  })
  process.kill(fleet.pids()[0] ?? 0, 'SIGKILL')
  t.strictSame(await statuses(fleet, 5, '/limited'), { 429: 5 }, 'the death of a worker frees nothing')
})

t.test('failures are counted over all workers, of keys that may be and of keys that cannot', async (t) => {
  const backend = await startBackend(t)
  const keyed = { ...route, name: 'keyed', path: '/keyed', auth: 'secretKey' }
  for (const [kind, change] of [
    ['malformed', () => 'gsk_nonsense'],
    ['of nobody', (key: string) => key],
  ] as const) {
    const config = { routes: [route, keyed], limits: { failures: { limit: 10, per: '1h' } } }
    const fleet = await serveFleet(t, { backend: backend.url, config })
    const created = (await fleet.run('accounts', 'create', '--email', 'a@example.com', '--json')).json()
    const { id, secretKey } = created as { readonly id: string; readonly secretKey: string }
    if (kind === 'of nobody') await fleet.run('accounts', 'delete', id)
    await untilAllAnswer(fleet)
    const headers = { SecretKey: change(secretKey) }
    t.strictSame(await statuses(fleet, 40, '/keyed', headers), { 401: 10, 429: 30 }, kind)
    if (kind === 'malformed') t.equal(await get(`${fleet.url}/keyed`, { SecretKey: secretKey }), 200)
  }
})
