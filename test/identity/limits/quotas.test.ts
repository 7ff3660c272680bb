import t, { type Test } from 'tap'
import type { QuotaResult } from '#identity/limits/quota-reservation.ts'
import { openQuotas } from '#identity/limits/quotas.ts'
import type { Quota } from '#store/quotas.ts'
import { until } from '../../setup/net.ts'
import { newSqlitePlace } from '../../store/sqlite/place.ts'

const dayMs = 86_400_000

const lastSecondOfYear = Date.UTC(2027, 11, 31, 23, 59, 59)
const second = 1_000

/** Quotas of one process, on a clock that stands still until it is moved. */
async function start(t: Test, processes = 1) {
  const place = await newSqlitePlace(t)
  const store = await place.open()
  const time = { ms: lastSecondOfYear }
  const storeConnection = { isUp: true }
  const calls = { count: 0 }
  /** Whether the store answers; it does what it is asked for all the same. */
  const responses = { areLost: false }
  const open = () => {
    const quotas = openQuotas({
      store: {
        ...store,
        takeQuota: (take) => {
          calls.count++
          const grant = store.takeQuota(take)
          return responses.areLost ? grant.then(() => Promise.reject(new Error('timed out'))) : grant
        },
      },
      storeConnection,
      clock: () => time.ms,
      monotonic: () => time.ms,
      processes: () => processes,
      onStoreFailure: () => {},
    })
    return { ...quotas, take: (accountId: string, quota: Quota) => quotas.take(accountId, quota, time.ms) }
  }
  return { time, storeConnection, calls, responses, store, open }
}

const isPromise = (value: unknown) => value instanceof Promise

/** @returns how many of so many requests at once pass */
async function takeOften(
  take: (accountId: string, quota: Quota) => QuotaResult | Promise<QuotaResult>,
  count: number,
  quota: Quota,
): Promise<number> {
  const results = await Promise.all(Array.from({ length: count }, async () => take('ada', quota)))
  return results.filter(({ isAllowed }) => isAllowed).length
}

for (const limit of [1, 99, 100, 1_000, 10_000]) {
  t.test(`a quota of ${limit} of the only process allows exactly that`, async (t) => {
    const { time, open } = await start(t)
    const { take } = open()
    const quota = { limit, per: 'day' } as const
    t.equal(await takeOften(take, limit - 1, quota), limit - 1)
    t.match(await take('ada', quota), { isAllowed: true }, 'at the limit')
    t.match(await take('ada', quota), { isAllowed: false, remaining: 0, resetMs: second }, 'one over')
    t.equal(await takeOften(take, 3 * limit, quota), 0, 'far over')
    time.ms += second - 1
    t.match(await take('ada', quota), { isAllowed: false, resetMs: 1 }, 'a millisecond too early')
    time.ms += 1
    t.match(await take('ada', quota), { isAllowed: true }, 'the next day')
    t.match(await take('bob', quota), { isAllowed: true }, 'another account has its own')
  })
}

t.test('a take that is undone is not spent, with the store and without it', async (t) => {
  const { storeConnection, open } = await start(t)
  const { take, charge, readUsed } = open()
  const quota = { limit: 2, per: 'day' } as const
  charge('ada', quota, -1)
  t.equal(await readUsed('ada', '2027-12-31'), 0, 'nothing to undo')
  for (let count = 0; count < 5; count++) {
    t.match(await take('ada', quota), { isAllowed: true })
    charge('ada', quota, -1)
  }
  t.equal(await readUsed('ada', '2027-12-31'), 0)
  t.equal(await takeOften(take, 5, quota), 2)
  storeConnection.isUp = false
  t.match(await take('bob', quota), { isAllowed: true })
  charge('bob', quota, -1)
  for (const isAllowed of [true, true, false]) t.match(await take('bob', quota), { isAllowed })
  storeConnection.isUp = true
  t.match(await take('bob', quota), { isAllowed: false }, 'the store is told of two')
  t.equal(await readUsed('bob', '2027-12-31'), 2)
})

t.test('what requests cost is spent, as much as it is, and all processes learn of it', async (t) => {
  for (const limit of [10, 10_000]) {
    const { open } = await start(t, 2)
    const [one, other] = [open(), open()]
    const quota = { limit, per: 'day' } as const
    t.match(await one.take('ada', quota), { isAllowed: true })
    one.charge('ada', quota, limit - 2)
    await until(
      'the store is told',
      async () => (await other.readUsed('ada', '2027-12-31')) === limit - 1 || undefined,
    )
    t.match(await other.take('ada', quota), { isAllowed: true, remaining: 0 }, 'at the limit')
    t.match(await other.take('ada', quota), { isAllowed: false }, 'one over')
    t.match(await one.take('ada', quota), { isAllowed: false })
    // Far over: requests that were under way.
    other.charge('ada', quota, 5 * limit)
    await until(
      'it is told too',
      async () => (await one.readUsed('ada', '2027-12-31')) === 6 * limit || undefined,
    )
    t.match(await one.take('bob', quota), { isAllowed: true }, 'another account has its own')
  }
})

t.test('costs that the store is not told of in time are told later, once', async (t) => {
  const { storeConnection, responses, open, time } = await start(t)
  const { take, charge, readUsed, close } = open()
  const quota = { limit: 100, per: 'day' } as const
  t.match(await take('ada', quota), { isAllowed: true })
  storeConnection.isUp = false
  charge('ada', quota, 49)
  t.match(await take('ada', quota), { isAllowed: true }, 'within the share')
  charge('ada', quota, 49)
  t.match(await take('ada', quota), { isAllowed: false }, 'it is all spent')
  storeConnection.isUp = true
  time.ms += 1
  t.match(await take('ada', quota), { isAllowed: false })
  t.equal(await readUsed('ada', '2027-12-31'), 100)
  responses.areLost = true
  charge('ada', quota, 7)
  await until('it is sent', async () => (await readUsed('ada', '2027-12-31')) === 107 || undefined)
  responses.areLost = false
  charge('ada', quota, 1)
  await close()
  t.equal(
    await readUsed('ada', '2027-12-31'),
    108,
    'the lost answer counts once, and the last is told at the end',
  )
})

t.test('a month ends with its last day, whatever its length', async (t) => {
  const { time, open } = await start(t)
  const { take } = open()
  for (const [now, nextMonth, monthMs] of [
    [Date.UTC(2028, 1, 1), Date.UTC(2028, 2, 1), 29 * dayMs],
    [Date.UTC(2028, 2, 31, 12), Date.UTC(2028, 3, 1), 31 * dayMs],
    [Date.UTC(2028, 11, 31, 23, 59, 59, 999), Date.UTC(2029, 0, 1), 31 * dayMs],
  ] as const) {
    time.ms = now
    t.match(await take('ada', { limit: 1, per: 'month' }), { isAllowed: true })
    t.strictSame(await take('ada', { limit: 1, per: 'month' }), {
      isAllowed: false,
      remaining: 0,
      windowMs: monthMs,
      resetMs: nextMonth - now,
    })
  }
})

t.test('a clock that was ahead and is set back leaves nobody in the window of the future', async (t) => {
  const { time, open } = await start(t)
  const { take } = open()
  const quota = { limit: 1, per: 'day' } as const
  time.ms = Date.UTC(2036, 0, 1)
  t.match(await take('ada', quota), { isAllowed: true })
  t.match(await take('ada', quota), { isAllowed: false })
  time.ms = lastSecondOfYear
  t.match(await take('ada', quota), { isAllowed: true }, 'today')
  t.match(await take('ada', quota), { isAllowed: false, resetMs: second })
  time.ms = Date.UTC(2036, 0, 1)
  t.match(await take('ada', quota), { isAllowed: false }, 'what was used then still counts')
})

t.test('another plan counts in its own window at once, whatever is reserved', async (t) => {
  const { take } = (await start(t)).open()
  t.match(await take('ada', { limit: 1_000, per: 'day' }), { isAllowed: true })
  t.notOk(isPromise(take('ada', { limit: 1_000, per: 'day' })), 'some are reserved')
  t.match(await take('ada', { limit: 1, per: 'month' }), { isAllowed: true })
  t.match(await take('ada', { limit: 1, per: 'month' }), { isAllowed: false })
})

t.test('while a process has some reserved, a request does not wait for the store', async (t) => {
  const { calls, open } = await start(t)
  const { take } = open()
  const quota = { limit: 10_000, per: 'month' } as const
  await take('ada', quota)
  for (let count = 0; count < 100; count++) t.notOk(take('ada', quota) instanceof Promise)
  const next = take('ada', quota)
  t.ok(next instanceof Promise)
  await next
  t.equal(calls.count, 2)
})

t.test(
  'where requests come fast more are reserved before any waits, and given back when they end',
  async (t) => {
    const { time, calls, store, open } = await start(t)
    const { take, readUsed } = open()
    const quota = { limit: 1_000_000, per: 'month' } as const
    const state = () => store.readQuota('ada', '2027-12')
    await take('ada', quota)
    time.ms += 10
    for (let count = 0; count < 88; count++) t.notOk(take('ada', quota) instanceof Promise)
    await until('it is asked for more', () => calls.count === 2 || undefined)
    await until('they are granted', async () => (await state()).granted > 10_000 || undefined)
    const { granted, holders } = await state()
    t.equal(granted, 89 + 10_000, '1 % of the quota, with what was left')
    t.strictSame(
      [...holders.values()].map(({ reserved }) => reserved),
      [10_000],
    )
    let promises = 0
    for (let count = 0; count < 10_000; count++) if (take('ada', quota) instanceof Promise) promises++
    t.equal(promises, 0)
    t.equal(await readUsed('ada', '2027-12'), 10_089)
    await until(
      'they end, and nothing is reserved',
      async () => [...(await state()).holders.values()].every(({ reserved }) => reserved === 0) || undefined,
    )
    t.equal((await state()).granted, 10_089, 'as many as have passed')
    t.match(await take('ada', quota), { isAllowed: true }, 'the next one asks again')
  },
)

t.test('processes that reserve much let the limit pass together, and at most 100 more', async (t) => {
  const { time, open } = await start(t, 3)
  const [busy, slow, ending] = [open(), open(), open()]
  const quota = { limit: 100_000, per: 'month' } as const
  time.ms = Date.UTC(2028, 0, 1)
  let passed = 0
  const takeAll = async (process: typeof busy, count: number) => {
    const allowed = await takeOften(process.take, count, quota)
    passed += allowed
    return allowed === count
  }
  for (let isLeft = true; isLeft; time.ms += 10) {
    if (passed < 25_000) await takeAll(ending, 300)
    isLeft = [await takeAll(busy, 500), await takeAll(slow, 50)].every(Boolean)
  }
  t.ok(passed >= 99_000 && passed <= 100_100, `${passed} while one that has ended holds some`)
  await until('what it has is given back', async () => {
    time.ms += second
    return !(await takeAll(busy, 1_000)) && passed >= 100_000
  })
  t.ok(passed <= 100_100, `${passed} in the end`)
})

t.test('what runs low is asked for at once for all accounts', async (t) => {
  const { time, calls, open } = await start(t)
  const { take } = open()
  const quota = { limit: 1_000_000, per: 'month' } as const
  const accounts = Array.from({ length: 300 }, (_, index) => `account ${index}`)
  const promisesOf = (count: number) =>
    accounts.flatMap((id) => Array.from({ length: count }, () => take(id, quota))).filter(isPromise).length
  time.ms = Date.UTC(2028, 0, 1)
  await Promise.all(accounts.map(async (id) => take(id, quota)))
  t.equal(calls.count, 300)
  time.ms += 60_000
  t.equal(promisesOf(88), 0)
  await until('all are asked for', () => calls.count === 600 || undefined)
  t.equal(promisesOf(12), 0)
})

t.test('a quota that is used up is asked for once a second', async (t) => {
  const { time, calls, open } = await start(t)
  const { take } = open()
  const quota = { limit: 1, per: 'month' } as const
  time.ms = Date.UTC(2028, 0, 1)
  await takeOften(take, 2, quota)
  const { count } = calls
  await takeOften(take, 100, quota)
  t.equal(calls.count, count)
  time.ms += second
  t.match(await take('ada', { ...quota, limit: 2 }), { isAllowed: true }, 'the plan was changed')
})

t.test('a process that closes gives back what it has not used', async (t) => {
  const { open } = await start(t)
  const quota = { limit: 200, per: 'month' } as const
  const first = open()
  await first.take('ada', quota)
  await first.close()
  const second = open()
  t.equal(await takeOften(second.take, 300, quota), 199)
})

t.test('a process that closes while it asks gives back what it gets then', async (t) => {
  const { time, store, calls, open } = await start(t)
  const quotas = open()
  const quota = { limit: 1_000_000, per: 'month' } as const
  await quotas.take('ada', quota)
  time.ms += 10
  for (let count = 0; count < 88; count++) quotas.take('ada', quota)
  const waiting = Array.from({ length: 18 }, () => quotas.take('ada', quota))
  await quotas.close()
  t.equal(calls.count, 3, 'those beyond what was reserved have asked before the end')
  t.equal((await Promise.all(waiting)).filter(({ isAllowed }) => isAllowed).length, 18)
  const { granted, holders } = await store.readQuota('ada', '2027-12')
  t.equal(granted, 107, 'as many as have passed')
  t.ok([...holders.values()].every(({ reserved }) => reserved === 0))
})

t.test('without the store a process allows its share, and tells the store later', async (t) => {
  const { storeConnection, open } = await start(t, 4)
  const { take } = open()
  const quota = { limit: 40, per: 'month' } as const
  await takeOften(take, 3, quota)
  storeConnection.isUp = false
  t.equal(await takeOften(take, 100, quota), 7, 'a quarter, less what has passed')
  storeConnection.isUp = true
  t.equal(await takeOften(take, 100, quota), 30)
  storeConnection.isUp = false
  t.match(await take('bob', { limit: 1, per: 'day' }), { isAllowed: true }, 'at least one')
  t.match(await take('bob', { limit: 1, per: 'day' }), { isAllowed: false })
})

t.test('what the store has counted without an answer is not counted again', async (t) => {
  const { responses, store, open } = await start(t, 2)
  const { take, readUsed } = open()
  const quota = { limit: 1_000, per: 'month' } as const
  await takeOften(take, 10, quota)
  responses.areLost = true
  t.equal(await takeOften(take, 100, quota), 100, 'its share')
  responses.areLost = false
  t.equal(await takeOften(take, 2_000, quota), 890, 'the rest, to the request')
  t.equal(await readUsed('ada', '2027-12'), 1_000)
  const { granted, holders } = await store.readQuota('ada', '2027-12')
  t.equal(granted, 1_000)
  t.ok([...holders.values()].every(({ reserved }) => reserved === 0))
})

t.test('a reservation that is dropped while the store does not answer is given back later', async (t) => {
  const { time, responses, store, open } = await start(t)
  const quotas = open()
  const quota = { limit: 1_000, per: 'day' } as const
  await quotas.take('ada', quota)
  responses.areLost = true
  t.equal(await takeOften(quotas.take, 20, quota), 20)
  responses.areLost = false
  time.ms += second
  t.equal((await quotas.take('ada', quota)).isAllowed, true, 'the next day')
  await until('the last day is settled', async () => {
    return (await store.readQuota('ada', '2027-12-31')).granted === 21 || undefined
  })
})
