import type { Test } from 'tap'
import { wordsOf } from '#store/account-search.ts'
import type { TermEntry } from '#store/accounts.ts'
import type { Store } from '#store/store.ts'
import { type NewPlace, runCase } from '../place.ts'
import { createAccount, newAccount } from '../samples.ts'

/** All that a query finds, in pages of a size. */
async function found(store: Store, query: string, limit = 10): Promise<readonly string[]> {
  const emails: string[] = []
  let after: TermEntry | undefined
  for (;;) {
    const page = await store.searchAccounts({ words: wordsOf(query), after, limit })
    if (page.accounts.length > limit) throw new Error('more than a page')
    emails.push(...page.accounts.map(({ email }) => email))
    if (!page.next) return emails
    after = page.next
  }
}

/** How accounts are found by a few words. */
export function accountSearchCases(t: Test, newPlace: NewPlace): void {
  runCase(t, newPlace, 'a search finds e-mails and names by their beginning', async (t, _place, store) => {
    await createAccount(store, { email: 'Ada@Example.com', firstName: 'Augusta Ada', lastName: 'Lovelace' })
    await createAccount(store, { email: 'k@example.com', firstName: 'Käthe', lastName: 'von Ada' })
    await createAccount(store, { email: 'bob@example.com', firstName: 'Bob', lastName: '' })
    t.strictSame((await found(store, 'ada')).toSorted(), ['Ada@Example.com', 'k@example.com'])
    t.strictSame(await found(store, ' LOVE '), ['Ada@Example.com'])
    t.strictSame(await found(store, 'KA\u0308T'), ['k@example.com'])
    t.strictSame(await found(store, 'bob@example.com'), ['bob@example.com'])
    t.strictSame(await found(store, 'xample'), [])
    t.strictSame(await found(store, 'adb'), [])
  })

  runCase(t, newPlace, 'a search finds the parts of an e-mail, and its domain', async (t, _place, store) => {
    await createAccount(store, { email: 'ada.lovelace+api@Example.com', firstName: '', lastName: '' })
    await createAccount(store, { email: 'ada_b-y@mail.test', firstName: 'Byron', lastName: 'Example' })
    for (const query of [
      'lovel',
      'API',
      'example.com',
      'example.c',
      'ada.love',
      'love exam',
      'ada example.com',
    ]) {
      t.strictSame(await found(store, query), ['ada.lovelace+api@Example.com'], query)
    }
    t.strictSame(await found(store, 'mail.test'), ['ada_b-y@mail.test'])
    t.strictSame((await found(store, 'example')).length, 2)
    t.strictSame((await found(store, 'ada', 1)).length, 2, 'each once')
    for (const query of ['com', 'y', 'race', 'lovelace+', '@mail']) {
      t.strictSame(await found(store, query), [], query)
    }
    const { id } = (await store.findAccountByEmail('ada_b-y@mail.test')) ?? { id: '' }
    await store.updateAccount(id, { email: 'ada@other.test' })
    t.strictSame(await found(store, 'mail.test'), [])
    t.strictSame(await found(store, 'other'), ['ada@other.test'])
  })

  runCase(
    t,
    newPlace,
    'a search of several words finds accounts with each of them',
    async (t, _place, store) => {
      await createAccount(store, { email: 'a@example.com', firstName: 'Ada', lastName: 'Lovelace' })
      await createAccount(store, { email: 'b@example.com', firstName: 'Ada', lastName: 'Byron' })
      t.strictSame(await found(store, 'ada love'), ['a@example.com'])
      t.strictSame(await found(store, 'ada b@'), ['b@example.com'])
      t.strictSame(await found(store, 'love by'), [])
    },
  )

  runCase(t, newPlace, 'each account found is on exactly one page', async (t, _place, store) => {
    const accounts = Array.from({ length: 23 }, (_, index) =>
      newAccount({ email: `ada${index}@example.com`, firstName: 'Ada', lastName: `Ada${index % 3}` }),
    )
    await store.createAccounts(accounts)
    for (const limit of [1, 2, 5, 22, 23, 24]) {
      const emails = await found(store, 'ada', limit)
      t.equal(emails.length, 23, `pages of ${limit}`)
      t.equal(new Set(emails).size, 23)
    }
  })

  runCase(
    t,
    newPlace,
    'a search finds changed and deleted accounts as they are now',
    async (t, _place, store) => {
      const { id } = await createAccount(store, {
        email: 'old@example.com',
        firstName: 'Olga',
        lastName: 'X',
      })
      await store.updateAccount(id, { email: 'new@example.com', firstName: 'Nora' })
      t.strictSame(await found(store, 'ol'), [])
      t.strictSame(await found(store, 'nora'), ['new@example.com'])
      t.strictSame(await found(store, 'x'), ['new@example.com'])
      await store.updateAccount(id, { role: 'Auditor' })
      t.strictSame(await found(store, 'new@'), ['new@example.com'])
      await store.deleteAccount(id)
      for (const query of ['new', 'nora', 'x', 'old']) t.strictSame(await found(store, query), [])
    },
  )

  runCase(
    t,
    newPlace,
    'no character of a query or a name has a special meaning',
    async (t, _place, store) => {
      for (const [index, name] of ['%', '_a', "'; ~~", '\uffff', '[a', '(b', '+', '-', '*', '😀'].entries()) {
        await createAccount(store, { email: `${index}@example.com`, firstName: name, lastName: '' })
      }
      for (const [index, query] of [
        '%',
        '_a',
        "'; ~~",
        '\uffff',
        '[a',
        '(b',
        '+',
        '-',
        '*',
        '😀',
      ].entries()) {
        t.strictSame(await found(store, query), [`${index}@example.com`], query)
      }
    },
  )
}
