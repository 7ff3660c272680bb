import type { Test } from 'tap'
import type { Account } from '#store/accounts.ts'
import type { Store } from '#store/store.ts'
import { type NewPlace, runCase } from '../place.ts'
import { createAccount, newKey, newSecretKey, now, second, startSession, useOf } from '../samples.ts'

/** What is done to an account, and what it does to its sessions. */
export function sessionEndCases(t: Test, newPlace: NewPlace): void {
  const endings: Record<string, (store: Store, account: Account) => Promise<unknown>> = {
    'disabling the account': (store, { id }) => store.updateAccount(id, { isDisabled: true }),
    'disabling and enabling the account': async (store, { id }) => {
      await store.updateAccount(id, { isDisabled: true })
      await store.updateAccount(id, { isDisabled: false })
    },
    'a reset without grace': (store, { id }) =>
      store.resetSecretKey(id, { secretKey: newSecretKey(), graceUntil: undefined }),
    'ending all sessions': (store, { id }) => store.endSessions(id),
  }
  for (const [name, end] of Object.entries(endings)) {
    runCase(t, newPlace, `${name} ends its sessions, and those of no other`, async (t, _place, store) => {
      const account = await createAccount(store)
      const other = await createAccount(store)
      const sessions = [await startSession(store, account), await startSession(store, account)]
      const kept = await startSession(store, other)
      await end(store, account)
      t.strictSame(await store.listSessions(account.id, { now, limit: 1_000 }), [])
      for (const session of sessions) {
        t.strictSame(await store.rotateSession(useOf(session)), { kind: 'over', reason: 'revoked' })
      }
      t.equal((await store.rotateSession(useOf(kept))).kind, 'current')
    })
  }

  const others: Record<string, (store: Store, account: Account) => Promise<unknown>> = {
    'a change of role': (store, { id }) => store.updateAccount(id, { role: 'Admin' }),
    'enabling an account that is enabled': (store, { id }) => store.updateAccount(id, { isDisabled: false }),
    'a reset with grace': (store, { id }) =>
      store.resetSecretKey(id, { secretKey: newSecretKey(), graceUntil: now + second }),
    'a new API key': (store, { id }) => store.resetApiKey(id, { apiKey: newKey() }),
  }
  for (const [name, change] of Object.entries(others)) {
    runCase(t, newPlace, `${name} ends no session`, async (t, _place, store) => {
      const account = await createAccount(store)
      const session = await startSession(store, account)
      await change(store, account)
      t.equal((await store.listSessions(account.id, { now, limit: 1_000 })).length, 1)
      t.equal((await store.rotateSession(useOf(session))).kind, 'current')
      t.equal((await store.findAccount(account.id))?.sessionEpoch, 1)
    })
  }

  runCase(t, newPlace, 'only the step from enabled to disabled ends sessions', async (t, _place, store) => {
    const { id } = await createAccount(store)
    for (const [isDisabled, sessionEpoch] of [
      [true, 2],
      [true, 2],
      [false, 2],
      [true, 3],
    ] as const) {
      await store.updateAccount(id, { isDisabled })
      t.match(await store.findAccount(id), { isDisabled, sessionEpoch })
    }
  })
}
