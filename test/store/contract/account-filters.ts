import type { Test } from 'tap'
import { dayMs } from '#platform/time.ts'
import { everyAccount, wordsOf } from '#store/account-search.ts'
import { type AccountFilter, type AccountOrder, type AccountPosition, emailKey } from '#store/accounts.ts'
import type { Store } from '#store/store.ts'
import { type NewPlace, runCase } from '../place.ts'
import { startPortalSession } from '../portal-samples.ts'
import { createAccount, newAccount, now, secretKeyOf } from '../samples.ts'
import { newUsage, newUsageBatch, today } from '../usage-samples.ts'

interface Listing {
  readonly order?: AccountOrder
  readonly limit?: number
}

/** The IDs of all that pass a filter, page after page. */
async function listed(
  store: Store,
  filter: Partial<AccountFilter> = {},
  { order = 'newest', limit = 3 }: Listing = {},
): Promise<readonly string[]> {
  const ids: string[] = []
  for (let after: AccountPosition | undefined; ; ) {
    const page = await store.filterAccounts({ filter: { ...everyAccount, ...filter }, order, after, limit })
    if (page.accounts.length > limit) throw new Error('more than a page')
    ids.push(...page.accounts.map(({ id }) => id))
    if (!page.next) return ids
    after = page.next
  }
}

const people = [
  { id: 'a1', email: 'Zoe@Example.com', firstName: 'Zoë', lastName: 'Ångström', createdAt: now - 5 * dayMs },
  { id: 'b2', email: 'bob@mail.test', firstName: 'Bob', lastName: 'van Dyke', role: 'Admin' },
  { id: 'c3', email: 'ada.l@example.com', firstName: 'Ada', lastName: 'Lovelace', plan: 'free' },
  { id: 'd4', email: 'ci@example.com', firstName: 'x@y', lastName: '', plan: 'pro', isDisabled: true },
].map((person) => ({ plan: undefined, ...person }))

/** How accounts are listed with a filter, in an order. */
export function accountFilterCases(t: Test, newPlace: NewPlace): void {
  runCase(t, newPlace, 'accounts are listed in three orders, each once', async (t, _place, store) => {
    for (const person of people) await createAccount(store, person)
    for (const limit of [1, 2, 4, 100]) {
      t.strictSame(await listed(store, {}, { limit }), ['d4', 'c3', 'b2', 'a1'])
      t.strictSame(await listed(store, {}, { order: 'oldest', limit }), ['a1', 'b2', 'c3', 'd4'])
      t.strictSame(await listed(store, {}, { order: 'email', limit }), ['c3', 'b2', 'd4', 'a1'])
    }
    await store.updateAccount('a1', { email: 'aa@example.com' })
    t.strictSame(await listed(store, {}, { order: 'email' }), ['a1', 'c3', 'b2', 'd4'])
  })

  runCase(t, newPlace, 'a filter passes what matches all of its members', async (t, _place, store) => {
    for (const person of people) await createAccount(store, person)
    for (const order of ['newest', 'email'] as const) {
      const sorted = async (filter: Partial<AccountFilter>) =>
        (await listed(store, filter, { order })).toSorted()
      t.strictSame(await sorted({ role: 'Admin' }), ['b2'])
      t.strictSame(await sorted({ role: 'admin' }), [], 'roles are case-sensitive')
      t.strictSame(await sorted({ plan: 'free' }), ['c3'])
      t.strictSame(await sorted({ plan: null }), ['a1', 'b2'])
      t.strictSame(await sorted({ isDisabled: true }), ['d4'])
      t.strictSame(await sorted({ isDisabled: false, plan: 'pro' }), [])
    }
    await store.updateAccount('c3', { plan: 'pro', role: 'Admin', isDisabled: true })
    t.strictSame(await listed(store, { plan: 'pro', isDisabled: true }), ['d4', 'c3'])
    t.strictSame(await listed(store, { role: 'Admin' }), ['c3', 'b2'])
  })

  runCase(t, newPlace, 'words are found anywhere in e-mails and names', async (t, _place, store) => {
    for (const person of people) await createAccount(store, person)
    for (const [query, ids] of [
      ['ample', ['d4', 'c3', 'a1']],
      ['ELAC', ['c3']],
      ['ngstr', ['a1']],
      ['ångs', ['a1']],
      ['A\u030angs', ['a1']],
      ['oë', ['a1']],
      ['yke', ['b2']],
      ['ob mail', ['b2']],
      ['ob example', []],
      ['@y', ['d4']],
      ['%', []],
      ['"', []],
    ] as const) {
      t.strictSame(await listed(store, { words: wordsOf(query) }), ids, query)
    }
  })

  runCase(
    t,
    newPlace,
    'an account was active when it sent a request, used a key or was in the portal',
    async (t, _place, store) => {
      for (const id of ['never', 'key', 'usage', 'portal', 'old']) {
        await createAccount(store, { id, createdAt: now - 90 * dayMs })
      }
      const [key, portal] = await Promise.all([store.findAccount('key'), store.findAccount('portal')])
      if (!key || !portal) throw new Error('was created')
      const use = { accountId: 'key', digest: Buffer.from(secretKeyOf(key).digest).toString('base64url') }
      const recorded = { ...use, address: '::1', scheme: 'secretKey' } as const
      await store.recordKeyUses([{ ...recorded, at: now - 2 * dayMs }])
      await store.recordKeyUses([{ ...recorded, at: now - dayMs }])
      await store.addUsage(
        newUsageBatch([
          newUsage({ id: 'usage' }),
          newUsage({ id: 'usage' }, { day: today - 3 }),
          newUsage({ id: 'old' }, { day: today - 40 }),
          newUsage({ id: 'gone' }),
          newUsage({ id: 'corp:1' }),
        ]),
      )
      const session = await startPortalSession(store, portal, { createdAt: now - 9 * dayMs })
      const seen = { at: now - 7 * dayMs, address: '::1', userAgent: 'curl' }
      await store.touchPortalSession('portal', session.id, seen)
      await store.endPortalSession('portal', session.id)

      const page = { filter: everyAccount, order: 'newest', after: undefined, limit: 10 } as const
      const { accounts } = await store.filterAccounts(page)
      t.strictSame(Object.fromEntries(accounts.map(({ id, lastActiveDay }) => [id, lastActiveDay])), {
        never: undefined,
        key: today - 1,
        usage: today,
        portal: today - 7,
        old: today - 40,
      })
      t.strictSame((await listed(store, { activeSince: today - 1 })).toSorted(), ['key', 'usage'])
      t.strictSame((await listed(store, { inactiveSince: today - 7 })).toSorted(), ['never', 'old'])
      t.strictSame(await listed(store, { inactiveSince: today - 90 }), [], 'created later')
      const found = await store.searchAccounts({
        words: [emailKey(portal.email)],
        after: undefined,
        limit: 1,
      })
      t.equal(found.accounts[0]?.lastActiveDay, today - 7)
      await store.deleteAccount('usage')
      await createAccount(store, { id: 'usage' })
      t.strictSame(await listed(store, { activeSince: today - 1 }), ['key'], 'a new account has no past')
    },
  )

  runCase(t, newPlace, 'accounts are counted', async (t, _place, store) => {
    t.equal(await store.countAccounts(), 0)
    await store.createAccounts(Array.from({ length: 12 }, () => newAccount()))
    const { id } = await createAccount(store)
    await store.createAccounts([newAccount({ id: 'again' }), newAccount({ email: 'taken@example.com' })])
    await store.createAccounts([newAccount(), newAccount({ email: 'taken@example.com' })])
    t.equal(await store.countAccounts(), 15)
    await store.deleteAccount(id)
    await store.deleteAccount(id)
    t.equal(await store.countAccounts(), 14)
  })

  runCase(
    t,
    newPlace,
    'one of many accounts is found, in steps that each scan only some of them',
    async (t, _place, store) => {
      const many = Array.from({ length: 6_000 }, (_, index) =>
        newAccount({
          id: `n${String(index).padStart(4, '0')}`,
          email: `user${index}@example.com`,
          firstName: '',
          lastName: '',
        }),
      )
      await store.createAccounts(many)
      const filter = { ...everyAccount, words: ['ser4321@'] }
      for (const order of ['newest', 'oldest', 'email'] as const) {
        t.strictSame(await listed(store, filter, { order, limit: 100 }), ['n4321'], order)
        t.equal((await listed(store, {}, { order, limit: 100 })).length, 6_000)
        const page = { filter: { ...everyAccount, role: 'Nobody' }, order, after: undefined, limit: 10 }
        t.match(await store.filterAccounts(page), { accounts: [], next: { id: String } }, 'not at the end')
      }
    },
  )

  runCase(t, newPlace, 'a page may begin after an account that was deleted', async (t, _place, store) => {
    await store.createAccounts(
      people.map((person) => newAccount({ ...person, role: 'User', createdAt: now })),
    )
    for (const [order, ids] of [
      ['newest', ['d4', 'c3', 'b2', 'a1']],
      ['oldest', ['a1', 'b2', 'c3', 'd4']],
      ['email', ['c3', 'b2', 'd4', 'a1']],
    ] as const) {
      const page = { filter: everyAccount, order, after: undefined, limit: 2 }
      const first = await store.filterAccounts(page)
      await store.deleteAccount(ids[1])
      const { accounts } = await store.filterAccounts({ ...page, after: first.next })
      t.strictSame(
        accounts.map(({ id }) => id),
        ids.slice(2),
      )
      const person = people.find(({ id }) => id === ids[1])
      await createAccount(store, { ...person, role: 'User', createdAt: now })
    }
  })
}
