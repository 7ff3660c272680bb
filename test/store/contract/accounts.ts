import type { Test } from 'tap'
import { type NewPlace, openMany, runCase } from '../place.ts'
import { createAccount, newAccount, newKey, newSecretKey, now, plain } from '../samples.ts'
import { accountChangeCases } from './account-changes.ts'
import { accountFilterCases } from './account-filters.ts'
import { accountImportCases } from './account-imports.ts'
import { accountListCases } from './account-lists.ts'
import { accountSearchCases } from './account-search.ts'
import { lastAdminCases } from './last-admin.ts'

/** The contract of AccountStore: how accounts are made, found, changed and deleted. */
export function runAccountContract(t: Test, newPlace: NewPlace): void {
  runCase(t, newPlace, 'an account is found again as it was created', async (t, _place, store) => {
    const whole = await createAccount(store, {
      secretKeys: [
        newSecretKey({ sealed: undefined, revokedAt: now + 5 }),
        newSecretKey({ id: '' }),
        newSecretKey({
          name: 'ci',
          scopes: ['orders:read', 'é'],
          addresses: ['10.0.0.0/8'],
          expiresAt: now + 9,
        }),
        newSecretKey({ name: 'old.system', sealed: undefined, isImported: true }),
      ],
      plan: 'free',
      managedBy: 'team-a',
    })
    const bare = await createAccount(store, {
      firstName: '',
      lastName: '',
      isVerified: false,
      isDisabled: true,
      revision: 7,
      sessionEpoch: 3,
      roleEpoch: 5,
      secretKeys: [],
      apiKey: newKey({ sealed: undefined, createdAt: 0 }),
    })
    for (const account of [whole, bare]) {
      t.strictSame(plain(await store.findAccount(account.id)), plain(account))
      t.strictSame(plain(await store.findAccountByEmail(account.email)), plain(account))
    }
  })

  runCase(t, newPlace, 'names of accounts keep every character', async (t, _place, store) => {
    for (const name of [
      `'); DROP TABLE accounts; --`,
      '"\\\n"',
      '名前 👩‍💻',
      '{"id":1}',
      ' a ',
      'undefined',
      '0',
    ]) {
      const { id } = await createAccount(store, { firstName: name, lastName: name, role: 'Rôle' })
      t.match(await store.findAccount(id), { firstName: name, lastName: name, role: 'Rôle' })
    }
  })

  runCase(
    t,
    newPlace,
    'an e-mail finds its account whatever the case and space around',
    async (t, _place, store) => {
      const { id } = await createAccount(store, { email: 'Ada.Lovelace@Example.com' })
      await createAccount(store, { email: 'Käthe@Example.com' })
      for (const email of [
        'ada.lovelace@example.com',
        'ADA.LOVELACE@EXAMPLE.COM',
        ' Ada.Lovelace@Example.com ',
      ]) {
        t.equal((await store.findAccountByEmail(email))?.id, id)
      }
      // The same letter in two code points.
      t.equal((await store.findAccountByEmail('KA\u0308THE@example.com'))?.email, 'Käthe@Example.com')
      t.equal(await store.findAccountByEmail('lovelace@example.com'), undefined)
    },
  )

  runCase(t, newPlace, 'a taken e-mail is refused whatever its case, and named', async (t, _place, store) => {
    const first = await createAccount(store, { email: 'ada@example.com' })
    const second = newAccount({ email: 'Ada@Example.COM' })
    t.strictSame(await store.createAccounts([second]), { kind: 'exists', emails: ['Ada@Example.COM'] })
    t.equal(await store.findAccount(second.id), undefined)
    t.equal((await store.findAccountByEmail('ada@example.com'))?.id, first.id)
  })

  runCase(t, newPlace, 'if one of many accounts cannot be created none is', async (t, _place, store) => {
    await createAccount(store, { email: 'taken@example.com' })
    const free = [newAccount({ email: 'one@example.com' }), newAccount({ email: 'two@example.com' })]
    const refused = await store.createAccounts([...free, newAccount({ email: 'TAKEN@example.com' })])
    t.equal(refused.kind, 'exists')
    for (const { id, email } of free) {
      t.equal(await store.findAccount(id), undefined)
      t.equal(await store.findAccountByEmail(email), undefined)
    }
    t.equal((await store.listAccounts({ after: undefined, limit: 10 })).length, 1)
    t.strictSame(await store.createAccounts(free), { kind: 'created' })
    t.equal((await store.listAccounts({ after: undefined, limit: 10 })).length, 3)
  })

  runCase(t, newPlace, 'two accounts of one call cannot share an e-mail', async (t, _place, store) => {
    const twins = [newAccount({ email: 'ada@example.com' }), newAccount({ email: 'ADA@example.com' })]
    t.equal((await store.createAccounts(twins)).kind, 'exists')
    t.strictSame(await store.listAccounts({ after: undefined, limit: 10 }), [])
  })

  runCase(t, newPlace, 'creating an empty list of accounts succeeds', async (t, _place, store) => {
    t.strictSame(await store.createAccounts([]), { kind: 'created' })
    const many = Array.from({ length: 1_000 }, () => newAccount())
    t.strictSame(await store.createAccounts(many), { kind: 'created' })
    const listed = await store.listAccounts({ after: undefined, limit: 2_000 })
    t.strictSame(
      listed.map(({ id }) => id),
      many
        .map(({ id }) => id)
        .toSorted()
        .reverse(),
    )
  })

  runCase(t, newPlace, 'of many that create one e-mail at once exactly one succeeds', async (t, place) => {
    const stores = await openMany(place, 4)
    const rivals = Array.from({ length: 32 }, (_, index) => ({
      account: newAccount({ email: index % 2 ? 'ada@example.com' : 'ADA@example.com' }),
      store: stores[index % stores.length],
    }))
    const outcomes = await Promise.all(rivals.map(({ store, account }) => store?.createAccounts([account])))
    const winners = rivals.filter((_, index) => outcomes[index]?.kind === 'created')
    t.equal(winners.length, 1)
    const [store] = stores
    t.equal((await store?.findAccountByEmail('ada@example.com'))?.id, winners[0]?.account.id)
    t.equal((await store?.listAccounts({ after: undefined, limit: 50 }))?.length, 1)
  })

  accountChangeCases(t, newPlace)
  accountFilterCases(t, newPlace)
  accountImportCases(t, newPlace)
  accountListCases(t, newPlace)
  accountSearchCases(t, newPlace)
  lastAdminCases(t, newPlace)
}
