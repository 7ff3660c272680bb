import t from 'tap'
import { firstOfMonth, startOfDay } from '#platform/time.ts'
import { usagePairsMax } from '#store/redis/usage.ts'
import { totalOf, usageBatchMax, usageDaysKept } from '#store/usage.ts'
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

t.test('a month of many keys and routes is read in short steps, and whole', async (t) => {
  const store = await openStoreAt(t, optionsOf(server))
  const ada = await createAccount(store)
  const first = firstOfMonth(today, -1)
  const days = Array.from({ length: 28 }, (_, index) => first + index)
  const entries = days.flatMap((day) =>
    Array.from({ length: 1_000 }, (_, index) =>
      newUsage(ada, {
        day,
        key: `key-${index % 20}`,
        route: `route-${index}`,
        requests: 1 + (index % 9),
        units: 9,
      }),
    ),
  )
  for (let from = 0; from < entries.length; from += usageBatchMax)
    await store.addUsage(newUsageBatch(entries.slice(from, from + usageBatchMax)))
  await inspector.config('RESETSTAT')
  const found = await store.readUsage(ada.id, { from: first, to: today })
  t.equal(found.length, entries.length)
  t.strictSame(totalOf(found), totalOf(entries))
  const stats = await inspector.info('commandstats')
  t.notMatch(stats, /hgetall/, 'no command that reads it whole')
  const [, calls = '0', usecPerCall = ''] =
    /cmdstat_hscan:calls=(\d+),usec=\d+,usec_per_call=([\d.]+)/.exec(stats) ?? []
  t.ok(Number(calls) >= 50, `${calls} steps`)
  t.ok(Number(usecPerCall) < 5_000, `${usecPerCall} µs each`)
})

t.test('pairs of key and route beyond the bound of a month count as one', async (t) => {
  const store = await openStoreAt(t, optionsOf(server))
  const ada = await createAccount(store)
  await store.addUsage(newUsageBatch([newUsage(ada)]))
  const [key = ''] = await inspector.keys('gh:{account}:usage:*')
  await inspector.hset(key, 'pairs', usagePairsMax - 1)
  const added = ['at', 'over', 'far over'].map((route) => newUsage(ada, { route, requests: 2, units: 3 }))
  await store.addUsage(newUsageBatch([...added, newUsage(ada)]))
  const found = await store.readUsage(ada.id, { from: today, to: today })
  t.strictSame(
    found.map(({ key, route, requests, units }) => `${key} ${route} ${requests}/${units}`),
    ['* * 4/6', 'default at 2/3', 'default orders 2/2'],
  )
})
