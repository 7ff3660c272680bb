import type { Test } from 'tap'
import type { AccountsPage } from '#store/accounts.ts'
import type { Store } from '#store/store.ts'
import { type NewPlace, runCase } from '../place.ts'
import { createAccount, newAccount } from '../samples.ts'

/** Newest first; those of one moment by the bytes of their IDs, backwards. */
const accounts = [
  { id: '0b', createdAt: 1_700_000_000_003 },
  { id: 'z0', createdAt: 1_700_000_000_002 },
  ...['aa', 'aB', 'a', 'Zz', 'A', '9', '0a'].map((id) => ({ id, createdAt: 1_700_000_000_001 })),
  { id: 'zz', createdAt: 1_700_000_000_000 },
] as const

const ids = accounts.map(({ id }) => id)

async function pageOf(store: Store, after: AccountsPage['after'], limit: number): Promise<readonly string[]> {
  return (await store.listAccounts({ after, limit })).map(({ id }) => id)
}

/** How accounts are listed. */
export function accountListCases(t: Test, newPlace: NewPlace): void {
  runCase(t, newPlace, 'accounts are listed newest first, page after page', async (t, _place, store) => {
    const mixed = accounts.toSorted((a, b) => (a.id < b.id ? -1 : 1))
    await store.createAccounts(mixed.map((account) => newAccount(account)))
    t.strictSame(await pageOf(store, undefined, 100), ids)
    for (const limit of [1, 3, ids.length]) {
      const seen: string[] = []
      for (let page = await pageOf(store, undefined, limit); page.length > 0; ) {
        t.ok(page.length <= limit)
        seen.push(...page)
        page = await pageOf(store, accounts[seen.length - 1], limit)
      }
      t.strictSame(seen, ids)
    }
  })

  runCase(
    t,
    newPlace,
    'an account created meanwhile does not move the next page of the list',
    async (t, _place, store) => {
      await store.createAccounts(accounts.map((account) => newAccount(account)))
      const [first, second] = accounts
      t.strictSame(await pageOf(store, undefined, 1), [first.id])
      await createAccount(store, { id: 'new', createdAt: 1_800_000_000_000 })
      t.strictSame(await pageOf(store, first, 1), [second.id])
      t.strictSame((await pageOf(store, undefined, 2))[0], 'new')
    },
  )

  runCase(t, newPlace, 'a page of the list may begin after a deleted account', async (t, _place, store) => {
    for (const account of accounts) await createAccount(store, account)
    for (const [place, account] of accounts.entries()) {
      await store.deleteAccount(account.id)
      t.strictSame(await pageOf(store, account, 2), ids.slice(place + 1, place + 3), account.id)
    }
  })

  runCase(
    t,
    newPlace,
    'no account of one moment is left out of the page after a deleted one',
    async (t, _place, store) => {
      const many = Array.from({ length: 2_500 }, () => newAccount())
      await store.createAccounts(many)
      const order = many.toSorted((a, b) => (a.id < b.id ? 1 : -1))
      const gone = order[2_200]
      await store.deleteAccount(gone?.id ?? '')
      t.strictSame(
        await pageOf(store, gone, 100),
        order.slice(2_201, 2_301).map(({ id }) => id),
      )
    },
  )

  runCase(t, newPlace, 'the list of an empty store is empty', async (t, _place, store) => {
    t.strictSame(await pageOf(store, undefined, 10), [])
    t.strictSame(await pageOf(store, { id: 'a', createdAt: 1 }, 10), [])
  })
}
