import type { Test } from 'tap'
import type { Store } from '../../../src/store/store.ts'
import { type NewPlace, runCase } from '../place.ts'
import { createAccount, newAccount } from '../samples.ts'

/** In the order of their bytes: digits, capitals, small letters. */
const ids = ['0a', '9', 'A', 'Zz', 'a', 'aB', 'aa', 'z0']

async function pageOf(store: Store, after: string | undefined, limit: number): Promise<readonly string[]> {
  return (await store.listAccounts({ after, limit })).map(({ id }) => id)
}

/** How accounts are listed. */
export function pagingCases(t: Test, newPlace: NewPlace): void {
  runCase(
    t,
    newPlace,
    'accounts are listed by the bytes of their IDs, page after page',
    async (t, _place, store) => {
      const order = [5, 2, 7, 0, 3, 6, 1, 4]
      await store.createAccounts(order.map((index) => newAccount({ id: ids[index] ?? '' })))
      t.strictSame(await pageOf(store, undefined, 100), ids)
      for (const limit of [1, 3, ids.length]) {
        const seen: string[] = []
        for (let page = await pageOf(store, undefined, limit); page.length > 0; ) {
          t.ok(page.length <= limit)
          seen.push(...page)
          page = await pageOf(store, seen.at(-1), limit)
        }
        t.strictSame(seen, ids)
      }
    },
  )

  runCase(t, newPlace, 'a page may begin after an account that is gone', async (t, _place, store) => {
    for (const id of ids) await createAccount(store, { id })
    await store.deleteAccount('a')
    t.strictSame(await pageOf(store, 'a', 2), ['aB', 'aa'])
    t.strictSame(await pageOf(store, 'z0', 2), [])
    t.strictSame(await pageOf(store, 'zz', 2), [])
  })

  runCase(t, newPlace, 'an empty store has no accounts', async (t, _place, store) => {
    t.strictSame(await pageOf(store, undefined, 10), [])
    t.strictSame(await pageOf(store, 'a', 10), [])
  })
}
