import type { Test } from 'tap'
import { type NewPlace, openMany, runCase } from '../place.ts'
import { createAccount, newKey, now, plain, startSession } from '../samples.ts'

/** How accounts change and go. */
export function accountChangeCases(t: Test, newPlace: NewPlace): void {
  runCase(t, newPlace, 'an update changes only the fields it names, and counts', async (t, _place, store) => {
    const account = await createAccount(store)
    const other = await createAccount(store)
    const changes = { firstName: 'Grace', role: 'Admin', isVerified: false } as const
    const expected = { ...account, ...changes, revision: 2, roleEpoch: 2 }
    t.strictSame(plain(await store.updateAccount(account.id, changes)), {
      kind: 'updated',
      account: plain(expected),
    })
    t.strictSame(plain(await store.findAccount(account.id)), plain(expected))
    await store.updateAccount(account.id, { lastName: '' })
    t.match(await store.findAccount(account.id), { firstName: 'Grace', lastName: '', revision: 3 })
    t.strictSame(plain(await store.findAccount(other.id)), plain(other))
  })

  runCase(
    t,
    newPlace,
    'the role epoch counts changes of the role and nothing else',
    async (t, place, store) => {
      const { id } = await createAccount(store, { role: 'User' })
      for (const [changes, roleEpoch] of [
        [{ role: 'User' }, 1],
        [{ role: 'Auditor' }, 2],
        [{ role: 'Auditor', firstName: 'Grace' }, 2],
        [{ isDisabled: true }, 2],
        [{ role: 'User' }, 3],
      ] as const) {
        const update = await store.updateAccount(id, changes)
        t.match(update, { account: { roleEpoch } })
      }
      await store.resetApiKey(id, { apiKey: newKey() })
      await store.endSessions(id)
      t.match(await (await place.open()).findAccount(id), { role: 'User', roleEpoch: 3 })
    },
  )

  runCase(t, newPlace, 'a changed e-mail frees the old one', async (t, _place, store) => {
    const { id } = await createAccount(store, { email: 'old@example.com' })
    await store.updateAccount(id, { email: 'New@example.com' })
    t.equal(await store.findAccountByEmail('old@example.com'), undefined)
    t.match(await store.findAccountByEmail('new@example.com'), { id, email: 'New@example.com' })
    const heir = await createAccount(store, { email: 'old@example.com' })
    t.equal((await store.findAccountByEmail('OLD@example.com'))?.id, heir.id)
  })

  runCase(t, newPlace, 'an account may change the case of its own e-mail', async (t, _place, store) => {
    const { id } = await createAccount(store, { email: 'ada@example.com' })
    t.equal((await store.updateAccount(id, { email: 'Ada@Example.com' })).kind, 'updated')
    t.match(await store.findAccountByEmail('ada@example.com'), { id, email: 'Ada@Example.com' })
  })

  runCase(
    t,
    newPlace,
    "another account's e-mail is refused and nothing changes",
    async (t, _place, store) => {
      await createAccount(store, { email: 'taken@example.com' })
      const account = await createAccount(store)
      const update = await store.updateAccount(account.id, { email: 'TAKEN@example.com', role: 'Admin' })
      t.strictSame(update, { kind: 'exists' })
      t.strictSame(plain(await store.findAccount(account.id)), plain(account))
      t.equal((await store.findAccountByEmail(account.email))?.id, account.id)
    },
  )

  runCase(
    t,
    newPlace,
    'of many that take one e-mail at once exactly one succeeds',
    async (t, place, store) => {
      const stores = await openMany(place, 4)
      const accounts = await Promise.all(stores.map((each) => createAccount(each)))
      const updates = await Promise.all(
        accounts.map(({ id }, index) => stores[index]?.updateAccount(id, { email: 'wanted@example.com' })),
      )
      const winners = updates.filter((update) => update?.kind === 'updated')
      t.equal(winners.length, 1)
      t.strictSame(
        plain({ kind: 'updated', account: await store.findAccountByEmail('wanted@example.com') }),
        plain(winners[0]),
      )
      const owned = await Promise.all(accounts.map(({ email }) => store.findAccountByEmail(email)))
      t.equal(owned.filter((account) => account !== undefined).length, 3, 'the losers keep theirs')
    },
  )

  runCase(t, newPlace, 'no change of an account is lost to a concurrent one', async (t, place, store) => {
    const { id } = await createAccount(store)
    const stores = await openMany(place, 4)
    const apiKey = newKey()
    await Promise.all(
      stores.flatMap((each, index) => [
        each.updateAccount(id, index === 0 ? { firstName: 'Grace' } : { isVerified: true }),
        index === 1 ? each.updateAccount(id, { lastName: 'Hopper' }) : each.endSessions(id),
        each.resetApiKey(id, { apiKey }),
        index === 2 ? each.updateAccount(id, { role: 'Admin' }) : each.updateAccount(id, {}),
      ]),
    )
    const account = await store.findAccount(id)
    t.match(account, { firstName: 'Grace', lastName: 'Hopper', role: 'Admin', revision: 17, sessionEpoch: 4 })
    t.strictSame(plain(account?.apiKey), plain(apiKey))
  })

  runCase(
    t,
    newPlace,
    'a deleted account is gone with its e-mail, its place in lists and its sessions',
    async (t, _place, store) => {
      const account = await createAccount(store)
      const kept = await createAccount(store)
      const session = await startSession(store, account)
      const keptSession = await startSession(store, kept)
      t.equal(await store.deleteAccount(account.id), 'deleted')
      t.equal(await store.findAccount(account.id), undefined)
      t.equal(await store.findAccountByEmail(account.email), undefined)
      t.strictSame(await store.listSessions(account.id, { now, limit: 1_000 }), [])
      t.equal(await store.findSession(session.id), undefined)
      t.equal(await store.endSession(session.id, 'revoked'), false)
      t.equal(await store.deleteAccount(account.id), 'unknown')
      const rest = await store.listAccounts({ after: undefined, limit: 10 })
      t.strictSame(
        rest.map(({ id }) => id),
        [kept.id],
      )
      t.equal((await store.findSession(keptSession.id))?.end, undefined)
      t.equal((await createAccount(store, { email: account.email })).email, account.email)
    },
  )
}
