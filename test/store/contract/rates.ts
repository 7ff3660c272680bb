import type { Test } from 'tap'
import { until } from '../../setup/net.ts'
import { type NewPlace, runCase } from '../place.ts'
import { createAccount, hour } from '../samples.ts'

/** The contract of RateStore: how requests are counted. */
export function runRateContract(t: Test, newPlace: NewPlace): void {
  runCase(t, newPlace, 'a rate allows its limit at once, and no more', async (t, _place, store) => {
    const rate = { limit: 5, perMs: hour }
    for (const remaining of [4, 3, 2, 1, 0]) {
      const taken = await store.takeFromRate('session start', 'ada', rate)
      t.match(taken, { isAllowed: true, remaining, retryMs: 0 })
      const resetMs = ((5 - remaining) * hour) / 5
      t.ok(taken.resetMs <= resetMs && taken.resetMs > resetMs - 60_000, 'until all are given back')
    }
    for (const _ of [1, 2, 3]) {
      const taken = await store.takeFromRate('session start', 'ada', rate)
      t.match(taken, { isAllowed: false, remaining: 0 })
      t.ok(taken.retryMs <= hour / 5 && taken.retryMs > hour / 5 - 60_000, 'a refusal costs nothing')
      t.ok(taken.resetMs <= hour && taken.resetMs > hour - 60_000)
    }
  })

  runCase(t, newPlace, 'a used part of a rate is restored in time', async (t, _place, store) => {
    const rate = { limit: 10, perMs: 1_000 }
    const startedAt = performance.now()
    for (let count = 0; count < 10; count++) await store.takeFromRate('session start', 'ada', rate)
    const taken = await until('a place is free', async () => {
      const taken = await store.takeFromRate('session start', 'ada', rate)
      return taken.isAllowed ? taken : undefined
    })
    const elapsedMs = performance.now() - startedAt
    t.ok(elapsedMs > 90, 'not before a tenth of the time')
    t.ok(taken.remaining < elapsedMs / 100, 'one for each tenth of the time, not all')
  })

  runCase(
    t,
    newPlace,
    'a rate with a shorter window holds nobody up for the longer one',
    async (t, _, store) => {
      const [daily, short] = [
        { limit: 10, perMs: 24 * hour },
        { limit: 10, perMs: 1_000 },
      ]
      for (let count = 0; count < 10; count++) await store.takeFromRate('plan account', 'ada', daily)
      const first = await store.takeFromRate('plan account', 'ada', short)
      t.match(first, { isAllowed: false, retryMs: 100, resetMs: 1_000 }, 'its whole limit is used up')
      await until(
        'a place is free',
        async () => (await store.takeFromRate('plan account', 'ada', short)).isAllowed || undefined,
      )
    },
  )

  runCase(t, newPlace, 'each subject of a rate is counted separately', async (t, _place, store) => {
    const rate = { limit: 1, perMs: hour }
    for (const purpose of ['route a ip', 'route b ip'] as const) {
      for (const subject of ['ada', 'bob', '', '{x}', 'é'.repeat(1_000)]) {
        const name = `${purpose} ${subject.slice(0, 10)}`
        t.equal((await store.takeFromRate(purpose, subject, rate)).isAllowed, true, name)
        t.equal((await store.takeFromRate(purpose, subject, rate)).isAllowed, false, name)
      }
    }
  })

  runCase(
    t,
    newPlace,
    'of many requests at once a rate allows exactly its limit',
    async (t, _place, store) => {
      const rate = { limit: 20, perMs: hour }
      const taken = await Promise.all(
        Array.from({ length: 100 }, () => store.takeFromRate('session start', 'ada', rate)),
      )
      t.equal(taken.filter(({ isAllowed }) => isAllowed).length, 20)
    },
  )

  runCase(t, newPlace, 'a rate loses no request to rounding', async (t, _place, store) => {
    // The limit does not divide the time: each takes a part of a microsecond.
    for (const limit of [600, 701, 999]) {
      const rate = { limit, perMs: hour + 1 }
      const taken = await Promise.all(
        Array.from({ length: limit }, () => store.takeFromRate('session start', `${limit}`, rate)),
      )
      t.equal(taken.filter(({ isAllowed }) => isAllowed).length, limit)
      t.equal((await store.takeFromRate('session start', `${limit}`, rate)).isAllowed, false)
    }
  })

  runCase(t, newPlace, 'the largest and the smallest rate limit requests', async (t, _place, store) => {
    t.match(await store.takeFromRate('session start', 'large', { limit: 1_000_000_000, perMs: 1_000 }), {
      isAllowed: true,
    })
    const yearly = { limit: 1, perMs: 365 * 24 * hour }
    t.match(await store.takeFromRate('session start', 'small', yearly), { isAllowed: true, remaining: 0 })
    t.match(await store.takeFromRate('session start', 'small', yearly), { isAllowed: false })
  })

  runCase(t, newPlace, 'counting a rate changes no stored data', async (t, _place, store) => {
    const { id } = await createAccount(store)
    await store.takeFromRate('session start', id, { limit: 1, perMs: hour })
    t.equal(await store.heartbeat('one'), 1, 'an instance counts itself')
    t.equal(await store.heartbeat('one'), 1, 'once')
    t.strictSame(await store.readChanges(0), { head: 0, changes: [], completeSince: 0 })
  })
}
