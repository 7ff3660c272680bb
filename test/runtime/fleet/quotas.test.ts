import t from 'tap'
import { askForReload, rewrite, taken } from '../../gateway/support/reload.ts'
import { startBackend } from '../../setup/backend.ts'
import { until } from '../../setup/net.ts'
import { get, serveFleet, untilAllAnswer } from './fleet.ts'

// slow: starts several fleets

const route = { upstream: 'backend', auth: 'any' }
const routes = [
  { name: 'all', path: '/all', upstream: 'backend', auth: 'none' },
  { ...route, name: 'one', path: '/one' },
]

t.test('a quota is exact over all workers, reloads and a larger plan', async (t) => {
  const backend = await startBackend(t)
  const plan = (limit: number) => ({ plans: { free: { quota: { limit, per: 'month' } } } })
  const fleet = await serveFleet(t, {
    backend: backend.url,
    config: { routes, ops: { port: 0 }, ...plan(60) },
  })
  const create = ['accounts', 'create', '--email', 'a@example.com', '--plan', 'free', '--json']
  const { id, secretKey } = (await fleet.run(...create)).json() as {
    readonly id: string
    readonly secretKey: string
  }
  await untilAllAnswer(fleet)
  /** @returns how many of so many requests at once pass, each on a connection of its own */
  const passing = async (count: number) => {
    const sent = Array.from({ length: count }, () => get(`${fleet.url}/one`, { SecretKey: secretKey }))
    const statuses = await Promise.all(sent)
    t.strictSame(
      statuses.filter((status) => status !== 200 && status !== 429),
      [],
    )
    return statuses.filter((status) => status === 200).length
  }
  const leftOf = async () => {
    const { plan } = (await fleet.run('usage', id, '--json')).json() as {
      readonly plan: { readonly quota: { readonly used: number; readonly remaining: number } }
    }
    return plan.quota
  }
  t.equal(await passing(20), 20)
  t.match(await leftOf(), { used: 20, remaining: 40 })
  t.match(await askForReload(fleet.opsUrl), taken)
  t.equal(await passing(30), 30, 'after a reload the count goes on')
  t.equal(await passing(40), 10, 'and ends where it should')
  t.match(await leftOf(), { used: 60, remaining: 0 })
  rewrite(fleet.configFile, plan(75))
  t.match(await askForReload(fleet.opsUrl), taken)
  // A worker may have heard less than a second ago that the old one was used up.
  let passed = 0
  await until('the larger plan is used up', async () => {
    passed += await passing(10)
    return passed >= 15 || undefined
  })
  t.equal(passed + (await passing(40)), 15)
  t.match(await leftOf(), { used: 75, remaining: 0 })
})
