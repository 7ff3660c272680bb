import type { Test } from 'tap'
import { firstOfMonth } from '#platform/time.ts'
import type { Store } from '#store/store.ts'
import { type UsageCount, usageBatchMax, usageDaysKept, usagePrincipalsMax } from '#store/usage.ts'
import { type NewPlace, openMany, runCase } from '../place.ts'
import { createAccount } from '../samples.ts'
import { newUsage, newUsageBatch, today } from '../usage-samples.ts'

const always = { from: today - 2 * usageDaysKept, to: today + 2 }

/** All that a store has of an account, a text for each count. */
async function usageOf(
  store: Store,
  { id }: { readonly id: string },
  days = always,
): Promise<readonly string[]> {
  return (await store.readUsage(id, days)).map(
    ({ day, key, route, requests, units }: UsageCount) =>
      `${day - today} ${key} ${route} ${requests}/${units}`,
  )
}

async function listAll(store: Store): Promise<readonly string[]> {
  const found = new Set<string>()
  for (let cursor: string | undefined; ; ) {
    const page = await store.listUsagePrincipals(cursor)
    for (const id of page.ids) found.add(id)
    if (page.cursor === undefined) return [...found]
    cursor = page.cursor
  }
}

/** The contract of UsageStore: what is counted of an account, and for how long. */
export function runUsageContract(t: Test, newPlace: NewPlace): void {
  runCase(t, newPlace, 'usage adds up by day, key and route', async (t, _place, store) => {
    const [ada, bob] = [await createAccount(store), await createAccount(store)]
    t.strictSame(await usageOf(store, ada), [])
    await store.addUsage(
      newUsageBatch([
        newUsage(ada, { requests: 3, units: 3 }),
        newUsage(ada, { route: 'files', requests: 2, units: 700 }),
        newUsage(ada, { key: 'ci', requests: 1, units: 0 }),
        newUsage(ada, { day: today - 1, requests: 9, units: 9 }),
        newUsage(bob, { requests: 5, units: 5 }),
      ]),
    )
    await store.addUsage(
      newUsageBatch([newUsage(ada, { requests: 4, units: 5 }), newUsage(ada, { key: 'ci' })]),
    )
    t.strictSame(await usageOf(store, ada), [
      '-1 default orders 9/9',
      '0 ci orders 2/1',
      '0 default files 2/700',
      '0 default orders 7/8',
    ])
    t.strictSame(await usageOf(store, bob), ['0 default orders 5/5'])
  })

  runCase(
    t,
    newPlace,
    'usage of a principal of an issuer is counted once it was admitted, and listed',
    async (t, _place, store) => {
      const [ada, bob] = [{ id: 'corp:ada' }, { id: 'corp:%C3%A4' }]
      await createAccount(store)
      await store.addUsage(newUsageBatch([newUsage(ada)]))
      t.strictSame(await usageOf(store, ada), [], 'dropped')
      t.strictSame(await listAll(store), [])
      t.strictSame(await store.admitUsagePrincipals([ada.id, bob.id], today), [])
      t.strictSame(await store.admitUsagePrincipals([ada.id], today), [])
      await store.addUsage(newUsageBatch([newUsage(ada, { key: '', requests: 3 }), newUsage(bob)]))
      await store.addUsage(newUsageBatch([newUsage(ada, { key: '', requests: 2 })]))
      t.strictSame(await usageOf(store, ada), ['0  orders 5/2'])
      t.strictSame((await listAll(store)).toSorted(), [bob.id, ada.id])
      // They are forgotten with the last of their counts.
      await store.admitUsagePrincipals(['corp:later'], today + usageDaysKept)
      t.strictSame((await listAll(store)).length, 3)
      await store.admitUsagePrincipals(['corp:later'], today + usageDaysKept + 1)
      t.strictSame(await listAll(store), ['corp:later'])
    },
  )

  runCase(t, newPlace, 'principals with usage are at most so many', async (t, _place, store) => {
    const ids = (from: number, count: number) =>
      Array.from({ length: count }, (_, index) => `corp:${from + index}`)
    const step = 10_000
    for (let from = 0; from < usagePrincipalsMax - 2; from += step)
      await store.admitUsagePrincipals(ids(from, Math.min(step, usagePrincipalsMax - 2 - from)), today)
    const last = ids(usagePrincipalsMax - 2, 3)
    t.strictSame(await store.admitUsagePrincipals(last, today), last.slice(2), 'one over')
    t.strictSame(await store.admitUsagePrincipals(ids(0, 5), today), [], 'known ones stay')
    const far = ids(usagePrincipalsMax + 1, step)
    t.strictSame(await store.admitUsagePrincipals([...far, 'corp:'], today), far, 'all others have room')
    t.equal((await listAll(store)).length, usagePrincipalsMax + 1)
  })

  runCase(t, newPlace, 'one count twice in a batch of usage adds up', async (t, _place, store) => {
    const ada = await createAccount(store)
    await store.addUsage(newUsageBatch([newUsage(ada), newUsage(ada, { units: 8 }), newUsage(ada)]))
    t.strictSame(await usageOf(store, ada), ['0 default orders 3/10'])
  })

  runCase(t, newPlace, 'units without a request are counted', async (t, _place, store) => {
    const ada = await createAccount(store)
    await store.addUsage(newUsageBatch([newUsage(ada, { requests: 0, units: 6 })]))
    t.strictSame(await usageOf(store, ada), ['0 default orders 0/6'])
    await store.addUsage(newUsageBatch([newUsage(ada, { requests: 1, units: 0 })]))
    t.strictSame(await usageOf(store, ada), ['0 default orders 1/6'])
  })

  runCase(t, newPlace, 'large counts of usage are exact', async (t, _place, store) => {
    const ada = await createAccount(store)
    const large = { requests: 1_000_000_001, units: 1_000_000_000_000_003 }
    for (const _ of [1, 2, 3]) await store.addUsage(newUsageBatch([newUsage(ada, large)]))
    t.strictSame(await usageOf(store, ada), ['0 default orders 3000000003/3000000000000009'])
  })

  runCase(t, newPlace, 'a batch of usage that is repeated is added once', async (t, place, store) => {
    const ada = await createAccount(store)
    const other = await place.open()
    const batch = newUsageBatch([newUsage(ada)])
    await Promise.all([store.addUsage(batch), other.addUsage(batch), store.addUsage(batch)])
    t.strictSame(await usageOf(store, ada), ['0 default orders 1/1'])
    await store.addUsage(newUsageBatch(batch.entries))
    t.strictSame(await usageOf(store, ada), ['0 default orders 2/2'], 'another batch is not a repetition')
  })

  runCase(t, newPlace, 'usage that many clients add at once adds up', async (t, place, store) => {
    const ada = await createAccount(store)
    const stores = await openMany(place, 4)
    await Promise.all(
      Array.from({ length: 40 }, (_, index) => stores[index % 4]?.addUsage(newUsageBatch([newUsage(ada)]))),
    )
    t.strictSame(await usageOf(store, ada), ['0 default orders 40/40'])
  })

  runCase(t, newPlace, 'usage is read by its days, both ends included', async (t, _place, store) => {
    const ada = await createAccount(store)
    // Over the ends of months and of a year.
    const days = [0, 1, 2, 27, 28, 29, 30, 31, 59, 180, 365, 366, usageDaysKept].map((ago) => today - ago)
    await store.addUsage(newUsageBatch(days.map((day) => newUsage(ada, { day }))))
    for (const from of days) {
      for (const to of days) {
        const found = await store.readUsage(ada.id, { from, to })
        t.strictSame(
          found.map(({ day }) => day),
          days.filter((day) => day >= from && day <= to).toSorted((a, b) => a - b),
          `${today - from} to ${today - to}`,
        )
      }
    }
  })

  runCase(t, newPlace, 'each day of a month has its own usage', async (t, _place, store) => {
    const ada = await createAccount(store)
    const first = firstOfMonth(today - 60)
    const days = Array.from({ length: 31 }, (_, index) => first + index)
    await store.addUsage(newUsageBatch(days.map((day, index) => newUsage(ada, { day, requests: index + 1 }))))
    const found = await store.readUsage(ada.id, { from: first, to: first + 30 })
    t.strictSame(
      found.map(({ day, requests }) => [day, requests]),
      days.map((day, index) => [day, index + 1]),
    )
  })

  runCase(t, newPlace, 'usage of a day that is no longer kept is dropped', async (t, _place, store) => {
    const ada = await createAccount(store)
    await store.addUsage(
      newUsageBatch(
        [usageDaysKept - 1, usageDaysKept, usageDaysKept + 1, 5_000].map((ago) =>
          newUsage(ada, { day: today - ago }),
        ),
      ),
    )
    t.strictSame(await usageOf(store, ada), [
      `-${usageDaysKept} default orders 1/1`,
      `-${usageDaysKept - 1} default orders 1/1`,
    ])
  })

  runCase(
    t,
    newPlace,
    'usage goes with its account, and none is added to it later',
    async (t, _place, store) => {
      const [ada, bob] = [await createAccount(store), await createAccount(store)]
      const days = [today - usageDaysKept, today - 31, today - 1, today, today + 1]
      const entries = days.flatMap((day) => [newUsage(ada, { day }), newUsage(bob, { day })])
      await store.addUsage(newUsageBatch(entries))
      await store.deleteAccount(ada.id)
      t.strictSame(await usageOf(store, ada), [])
      await store.addUsage(newUsageBatch(entries))
      t.strictSame(await usageOf(store, ada), [], 'the account is gone')
      t.equal((await usageOf(store, bob)).length, days.length)
    },
  )

  runCase(t, newPlace, 'usage of no account is dropped, and the rest is added', async (t, _place, store) => {
    const ada = await createAccount(store)
    await store.addUsage(newUsageBatch([newUsage({ id: 'nobody' }), newUsage(ada)]))
    await store.addUsage(newUsageBatch([]))
    t.strictSame(await usageOf(store, { id: 'nobody' }), [])
    t.strictSame(await usageOf(store, ada), ['0 default orders 1/1'])
  })

  runCase(
    t,
    newPlace,
    'a full batch of usage is added, and keys and routes may have any name',
    async (t, _place, store) => {
      const ada = await createAccount(store)
      const names = ['a', 'pairs', '=a', '32', '-33', ' ', 'é', '"{}', '__proto__', 'x'.repeat(64)]
      const entries = Array.from({ length: usageBatchMax }, (_, index) =>
        newUsage(ada, {
          key: names[index % 10] ?? '',
          route: `${names[Math.floor(index / 10) % 10]}${Math.floor(index / 100)}`,
        }),
      )
      await store.addUsage(newUsageBatch(entries))
      const found = await store.readUsage(ada.id, always)
      t.equal(found.length, usageBatchMax)
      const nameOf = ({ key, route }: Pick<UsageCount, 'key' | 'route'>) => `${key} ${route}`
      t.strictSame(found.map(nameOf).toSorted(), entries.map(nameOf).toSorted())
      t.ok(found.every(({ requests, units }) => requests === 1 && units === 1))
      const byBytes = found.toSorted((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)))
      t.strictSame(
        found.map(({ key }) => key),
        byBytes.map(({ key }) => key),
      )
    },
  )

  runCase(
    t,
    newPlace,
    'usage is there after the store was closed and opened again',
    async (t, place, store) => {
      const ada = await createAccount(store)
      await store.addUsage(newUsageBatch([newUsage(ada)]))
      await store.close()
      const again = await place.open()
      t.strictSame(await usageOf(again, ada), ['0 default orders 1/1'])
    },
  )

  runCase(t, newPlace, 'adding usage is no change that caches hear of', async (t, _place, store) => {
    const ada = await createAccount(store)
    await store.addUsage(newUsageBatch([newUsage(ada)]))
    t.match(await store.readChanges(0), { head: 0, changes: [] })
  })
}
