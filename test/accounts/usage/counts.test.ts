import t from 'tap'
import { DayCounts, type UsageCaller } from '#accounts/usage/counts.ts'
import { createRandom } from '../../http/outgoing/random.ts'

const ada = { accountId: 'ada', key: 'default' }
const orders = { name: 'orders' }

function use(counts: DayCounts, route: { readonly name: string }, caller: UsageCaller): void {
  const count = counts.find(route, caller) ?? counts.add(route, caller)
  if (!count.isPending) counts.markPending(count)
  count.requests++
  count.units += 2
}

function handOver(counts: DayCounts): readonly string[] {
  return [...counts.batches()]
    .flat()
    .map(({ accountId, key, day, route, requests, units }) =>
      [accountId, key, day, route, requests, units].join(' '),
    )
    .toSorted()
}

t.test('a count is kept for one more round, and dropped unless it was used in it', async (t) => {
  const counts = new DayCounts(7)
  use(counts, orders, ada)
  const count = counts.find(orders, ada)
  t.strictSame(handOver(counts), ['ada default 7 orders 1 2'])
  t.equal(counts.find(orders, ada), count)
  use(counts, orders, ada)
  use(counts, { name: 'files' }, ada)
  t.strictSame(handOver(counts), ['ada default 7 files 1 2', 'ada default 7 orders 1 2'])
  t.equal(counts.find(orders, ada), count, 'used')
  use(counts, { name: 'files' }, ada)
  t.strictSame(handOver(counts), ['ada default 7 files 1 2'])
  t.equal(counts.find(orders, ada), undefined, 'not used')
})

t.test('of up to 10,000 all are kept, of more none but those in use again', async (t) => {
  for (const [size, kept] of [
    [9_999, 9_999],
    [10_000, 10_000],
    [10_001, 1],
    [50_000, 1],
  ] as const) {
    const counts = new DayCounts(7)
    const routes = Array.from({ length: size }, (_, index) => ({ name: `route ${index}` }))
    for (const route of routes) use(counts, route, ada)
    const batches = counts.batches()
    t.equal(batches.next().value?.length, 200)
    // Its part is handed over: this is a new one.
    use(counts, { name: 'route 0' }, ada)
    const rest = [...batches].flat()
    t.equal(rest.length, size - 200)
    t.equal(routes.filter((route) => counts.find(route, ada) !== undefined).length, kept, `${size} routes`)
    t.strictSame(handOver(counts), ['ada default 7 route 0 1 2'])
  }
})

t.test('nothing is lost, and nothing is counted twice, whichever counts are dropped', async (t) => {
  const random = createRandom(11)
  const routes = ['orders', 'files', 'mail'].map((name) => ({ name }))
  const callers = ['ada', 'bob'].flatMap((accountId) =>
    ['default', 'ci', 'app'].map((key) => ({ accountId, key })),
  )
  const counts = new DayCounts(7)
  const written = new Map<string, number>()
  const expected = new Map<string, number>()
  const add = (to: Map<string, number>, name: string, requests: number) =>
    to.set(name, (to.get(name) ?? 0) + requests)
  for (let round = 0; round < 2_000; round++) {
    for (let uses = random.below(6); uses > 0; uses--) {
      const [route, caller] = [random.pick(routes), random.pick(callers)]
      use(counts, route, caller)
      add(expected, `${caller.accountId} ${caller.key} ${route.name}`, 1)
    }
    for (const { accountId, key, route, requests } of [...counts.batches()].flat())
      add(written, `${accountId} ${key} ${route}`, requests)
  }
  t.strictSame([...written].toSorted(), [...expected].toSorted())
})
