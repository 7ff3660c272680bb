import type { Test } from 'tap'
import { holderGoneMs } from '#store/quotas.ts'
import { type NewPlace, runCase } from '../place.ts'
import { newQuotaTake, takeNext } from '../quota-samples.ts'

/** The contract of QuotaStore: how the requests of accounts are counted by day and month. */
export function runQuotaContract(t: Test, newPlace: NewPlace): void {
  runCase(
    t,
    newPlace,
    'a small quota is granted one by one, and never exceeded',
    async (t, _place, store) => {
      for (const limit of [1, 5, 99]) {
        const take = newQuotaTake({ subject: `of ${limit}`, limit, holders: 3 })
        for (let count = 0; count < limit; count++) t.strictSame(await takeNext(store, take), { granted: 1 })
        t.strictSame(await takeNext(store, take), { granted: 0 }, 'one over')
        t.strictSame(await takeNext(store, { ...take, needed: 1_000 }), { granted: 0 }, 'far over')
        t.strictSame(await takeNext(store, { ...take, limit: limit + 1 }), { granted: 1 }, 'a larger plan')
      }
    },
  )

  runCase(t, newPlace, 'a holder may reserve its part of 1 %, at most 100', async (t, _place, store) => {
    for (const { limit, holders, reserved } of [
      { limit: 10_000, holders: 1, reserved: 100 },
      { limit: 10_000, holders: 3, reserved: 33 },
      { limit: 1_000_000_000, holders: 3, reserved: 33 },
      { limit: 500, holders: 1, reserved: 5 },
      { limit: 500, holders: 6, reserved: 0 },
    ]) {
      const take = newQuotaTake({ subject: `${limit} ${holders}`, limit, holders, needed: 7 })
      t.strictSame(await takeNext(store, take), { granted: 7 + reserved })
    }
  })

  runCase(
    t,
    newPlace,
    'what others have reserved does not count against the limit',
    async (t, _place, store) => {
      const take = newQuotaTake({ limit: 1_000, holders: 2 })
      t.strictSame(await takeNext(store, { ...take, holder: 'idle' }), { granted: 6 })
      let granted = 0
      for (;;) {
        const grant = await takeNext(store, take)
        granted += grant.granted
        if (grant.granted === 0) break
      }
      t.equal(granted, 999, 'with the one request of the idle holder: the limit')
      t.strictSame(
        await takeNext(store, { ...take, holder: 'idle' }),
        { granted: 0 },
        'its reservation is used',
      )
    },
  )

  runCase(
    t,
    newPlace,
    'reservations never exceed 1 % together, however many hold one',
    async (t, _place, store) => {
      let reserved = 0
      for (let count = 0; count < 50; count++) {
        const take = newQuotaTake({ limit: 2_000, holder: `${count}` })
        reserved += (await takeNext(store, take)).granted - 1
      }
      t.equal(reserved, 20)
    },
  )

  runCase(t, newPlace, 'a grant says what all holders have been granted', async (t, _place, store) => {
    const take = newQuotaTake({ limit: 200, sequence: 1 })
    const first = await store.takeQuota(take)
    t.strictSame(first, { granted: 3, grantedToAll: 3 })
    const other = { ...take, holder: 'two', needed: 10 }
    t.strictSame(await store.takeQuota(other), { granted: 10, grantedToAll: 13 })
    t.strictSame(await store.takeQuota(take), { granted: 3, grantedToAll: 13 }, 'repeated')
    const given = { ...take, sequence: 2, needed: 0, unused: 2 }
    t.strictSame(await store.takeQuota(given), { granted: 0, grantedToAll: 11 })
  })

  runCase(t, newPlace, 'what is given back is granted again', async (t, _place, store) => {
    const take = newQuotaTake({ limit: 200 })
    t.strictSame(await takeNext(store, take), { granted: 3 })
    t.strictSame(await takeNext(store, { ...take, needed: 0, unused: 2 }), { granted: 0 })
    t.strictSame(await takeNext(store, { ...take, holder: 'two', needed: 199 }), { granted: 199 })
    t.strictSame(await takeNext(store, { ...take, holder: 'two' }), { granted: 0 })
  })

  runCase(
    t,
    newPlace,
    'requests that passed without the store are counted later',
    async (t, _place, store) => {
      const take = newQuotaTake({ limit: 50 })
      t.strictSame(await takeNext(store, { ...take, uncounted: 48 }), { granted: 1 })
      t.strictSame(await takeNext(store, { ...take, needed: 5 }), { granted: 1 })
      t.strictSame(await takeNext(store, { ...take, uncounted: 30 }), { granted: 0 }, 'beyond the limit too')
    },
  )

  runCase(
    t,
    newPlace,
    'a holder that expects many requests may reserve 1 % while the end is far',
    async (t, _place, store) => {
      for (const { limit, holders, ahead, uncounted = 0, reserved } of [
        { limit: 1_000_000, holders: 1, ahead: 9_999, reserved: 9_999 },
        { limit: 1_000_000, holders: 1, ahead: 10_001, reserved: 10_000 },
        { limit: 1_000_000, holders: 4, ahead: 10_000_000, reserved: 2_500 },
        { limit: 1_000_000, holders: 4, ahead: 3, reserved: 25 },
        { limit: 1_000_000, holders: 1, ahead: 10_000, uncounted: 679_999, reserved: 10_000 },
        { limit: 1_000_000, holders: 1, ahead: 10_000, uncounted: 900_000, reserved: 3_124 },
        { limit: 1_000_000, holders: 1, ahead: 10_000, uncounted: 999_000, reserved: 100 },
        { limit: 1_000_000, holders: 1, ahead: 10_000, uncounted: 999_900, reserved: 49 },
        { limit: 1_000_000, holders: 1, ahead: 10_000, uncounted: 999_999, reserved: 0 },
        { limit: 99, holders: 1, ahead: 10_000, reserved: 0 },
      ]) {
        const subject = `${limit} ${holders} ${ahead} ${uncounted}`
        const take = newQuotaTake({ subject, limit, holders, ahead, uncounted })
        t.strictSame(await takeNext(store, take), { granted: 1 + reserved }, subject)
      }
    },
  )

  runCase(
    t,
    newPlace,
    'large reservations make no quota be exceeded, and cost others no more than 1 %',
    async (t, _place, store) => {
      const take = newQuotaTake({ limit: 1_000_000, ahead: 1_000_000 })
      let reserved = 0
      for (let count = 0; count < 5; count++)
        reserved += (await takeNext(store, { ...take, holder: `idle ${count}` })).granted - 1
      t.equal(reserved, 10_000)
      let granted = 0
      for (let last = 1; last > 0; granted += last)
        last = (await takeNext(store, { ...take, ahead: 0, needed: 9_000 })).granted
      t.equal(granted, 1_000_000 + 100 - 10_000 - 5)
    },
  )

  runCase(t, newPlace, 'a holder adds to a reservation that it keeps', async (t, _place, store) => {
    const take = newQuotaTake({ limit: 1_000_000, ahead: 4_000 })
    t.strictSame(await takeNext(store, take), { granted: 4_001 })
    const more = { ...take, needed: 0, kept: 1_500 }
    t.strictSame(await takeNext(store, more), { granted: 2_500 })
    t.match(await store.readQuota('ada', take.window), {
      granted: 6_501,
      holders: new Map([['one', { reserved: 4_000 }]]),
    })
    t.strictSame(await takeNext(store, { ...more, kept: 4_000 }), { granted: 0 })
    t.strictSame(await takeNext(store, { ...more, ahead: 0, kept: 0, unused: 4_000 }), { granted: 0 })
    t.match(await store.readQuota('ada', take.window), {
      granted: 2_501,
      holders: new Map([['one', { reserved: 0 }]]),
    })
  })

  runCase(
    t,
    newPlace,
    'what a process that is gone has reserved counts as used, and hinders no other',
    async (t, _place, store) => {
      const take = newQuotaTake({ limit: 1_000 })
      t.strictSame(await takeNext(store, { ...take, holder: 'gone' }), { granted: 11 })
      const soon = take.now + holderGoneMs - 1
      t.strictSame(await takeNext(store, { ...take, now: soon }), { granted: 1 })
      const later = { ...take, now: take.now + holderGoneMs }
      t.strictSame(await takeNext(store, later), { granted: 11 })
      const { granted, holders } = await store.readQuota('ada', take.window)
      t.equal(granted, 23)
      t.strictSame([...holders.keys()], ['one'])
      t.strictSame(await takeNext(store, { ...later, needed: 977, unused: 10 }), { granted: 977 + 5 })
    },
  )

  runCase(t, newPlace, 'accounts and windows have quotas of their own', async (t, place, store) => {
    const take = newQuotaTake({ limit: 1 })
    for (const own of [{}, { subject: 'bob' }, { window: '2100-02' }, { window: '2100-01-01' }]) {
      t.strictSame(await takeNext(store, { ...take, ...own }), { granted: 1 })
      t.strictSame(await takeNext(store, { ...take, ...own }), { granted: 0 })
    }
    t.strictSame(await takeNext(await place.open(), take), { granted: 0 }, 'kept over a restart')
  })

  runCase(
    t,
    newPlace,
    'two processes that take at once are granted the limit together',
    async (t, place, store) => {
      const stores = [store, await place.open()]
      // Each has one take under way at most, as identity/limits/quotas.ts does: its numbers must arrive in order.
      const granted = await Promise.all(
        stores.map(async (each, index) => {
          let sum = 0
          for (let count = 0; count < 50; count++) {
            const take = newQuotaTake({ limit: 60, holder: `${index}`, holders: 2 })
            sum += (await takeNext(each, take)).granted
          }
          return sum
        }),
      )
      t.equal(
        granted.reduce((sum, each) => sum + each, 0),
        60,
      )
    },
  )

  runCase(t, newPlace, 'a take that is repeated with its number is counted once', async (t, place, store) => {
    const first = newQuotaTake({ limit: 1_000, sequence: 7, needed: 3 })
    const grant = await store.takeQuota(first)
    t.strictSame(grant, { granted: 13, grantedToAll: 13 })
    t.match(await store.takeQuota(first), grant, 'the same response')
    t.strictSame(await (await place.open()).takeQuota(first), grant, 'over another connection')
    t.match(await store.readQuota('ada', first.window), { granted: 13 })
    const late = { ...first, sequence: 6, uncounted: 500 }
    t.match(await store.takeQuota(late), grant, 'one that arrives late changes nothing')
    t.match(await store.readQuota('ada', first.window), { granted: 13 })
    const next = { ...first, sequence: 8, needed: 1, unused: 10 }
    t.match(await store.takeQuota(next), { granted: 11 })
    t.match(await store.takeQuota({ ...first, holder: 'two' }), { granted: 3 }, 'of another holder')
  })

  runCase(t, newPlace, 'what is granted and reserved of a quota can be read', async (t, _place, store) => {
    const take = newQuotaTake({ limit: 1_000, sequence: 1, holders: 2 })
    t.strictSame(await store.readQuota('ada', take.window), { granted: 0, holders: new Map() })
    await store.takeQuota(take)
    await store.takeQuota({ ...take, holder: 'two', sequence: 9, needed: 2 })
    const askedAt = take.now
    const one = { reserved: 5, sequence: 1, granted: 6, askedAt }
    const two = { reserved: 5, sequence: 9, granted: 7, askedAt }
    const holders = new Map([
      ['one', one],
      ['two', two],
    ])
    t.strictSame(await store.readQuota('ada', take.window), { granted: 13, holders })
    t.strictSame(await store.readQuota('ada', '2100-02'), { granted: 0, holders: new Map() })
    t.strictSame(await store.readQuota('bob', take.window), { granted: 0, holders: new Map() })
    const last = { ...take, sequence: 2, needed: 0, unused: 5 }
    for (const what of ['given back', 'given back again, as the answer was lost']) {
      await store.takeQuota(last)
      const back = { reserved: 0, sequence: 2, granted: 0, askedAt }
      const left = new Map([
        ['one', back],
        ['two', two],
      ])
      t.strictSame(await store.readQuota('ada', take.window), { granted: 8, holders: left }, what)
    }
  })
}
