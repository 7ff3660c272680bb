import t from 'tap'
import { firstOfMonth, startOfDay } from '../../../src/platform/day.ts'
import { usageDaysKept } from '../../../src/store/usage.ts'
import { startRedis } from '../../setup/redis.ts'
import { createAccount } from '../samples.ts'
import { newUsage, newUsageBatch, today } from '../usage-samples.ts'
import { openInspector, openStoreAt, optionsOf } from './place.ts'

const server = await startRedis(t)
const inspector = openInspector(t, server)
t.beforeEach(() => inspector.flushall())

t.test('the usage of a month expires once its last day is no longer kept', async (t) => {
  const store = await openStoreAt(t, optionsOf(server))
  const ada = await createAccount(store)
  const thisMonth = firstOfMonth(today)
  const lastMonth = firstOfMonth(today, -1)
  await store.addUsage(newUsageBatch([newUsage(ada), newUsage(ada, { day: thisMonth - 1 })]))
  await store.addUsage(newUsageBatch([newUsage(ada, { route: 'files' }), newUsage(ada, { day: lastMonth })]))
  const keys = (await inspector.keys('gh:{account}:usage:*')).toSorted()
  const expiries = await Promise.all(keys.map((key) => inspector.pexpiretime(key)))
  t.strictSame(
    expiries,
    [thisMonth, firstOfMonth(today, 1)].map((next) => startOfDay(next + usageDaysKept)),
    'at the end of the last day on which its last day is kept',
  )
  const [batch = ''] = await inspector.keys('gh:{account}:usage-batch:*')
  const leftMs = await inspector.pttl(batch)
  t.ok(leftMs > 3_500_000 && leftMs <= 3_600_000, 'a batch is remembered for an hour')
})

t.test('the usage of an account in a month takes some hundred bytes', async (t) => {
  const store = await openStoreAt(t, optionsOf(server))
  const ada = await createAccount(store)
  const first = firstOfMonth(today, -1)
  for (let day = first; day < firstOfMonth(today); day++) {
    await store.addUsage(newUsageBatch([newUsage(ada, { day, requests: 1_234, units: 1_234 })]))
  }
  const [key = ''] = await inspector.keys('gh:{account}:usage:*')
  const oneRoute = Number(await inspector.memory('USAGE', key))
  t.ok(oneRoute < 600, `${oneRoute} bytes for one key on one route, every day`)
  for (let day = first; day < firstOfMonth(today); day++) {
    const entries = ['a', 'b', 'c'].flatMap((key) =>
      ['one', 'two'].map((route) => newUsage(ada, { key, route, day, requests: 99_999, units: 1_234_567 })),
    )
    await store.addUsage(newUsageBatch(entries))
  }
  const sixMore = Number(await inspector.memory('USAGE', key))
  t.ok(sixMore < 8_000, `${sixMore} bytes for six more, with units of their own`)
  t.comment(`${oneRoute} and ${sixMore} bytes`)
})
