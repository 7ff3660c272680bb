import type { Test } from 'tap'
import { type NewPlace, runCase } from '../place.ts'
import { startPortalSession } from '../portal-samples.ts'
import { createAccount, newSigningKey, now, startSession } from '../samples.ts'

/** By their bytes, which no language orders so. */
const ordered = ['-', '0a', '9', 'A', 'Zz', '_', 'a', 'aB', 'aa', 'z'] as const
const mixed = ['aB', 'z', '_', 'A', '9', 'aa', '-', 'Zz', 'a', '0a'] as const

/** The order of what is of one moment: the same in every store. */
export function tieCases(t: Test, newPlace: NewPlace): void {
  runCase(t, newPlace, 'sessions of one moment are in the order of their IDs', async (t, _place, store) => {
    const account = await createAccount(store)
    for (const id of mixed) await startSession(store, account, { id })
    const listed = await store.listSessions(account.id, { now, limit: 1_000 })
    t.strictSame(
      listed.map(({ id }) => id),
      ordered,
    )
  })

  runCase(t, newPlace, 'portal sessions of one moment, too', async (t, _place, store) => {
    const account = await createAccount(store)
    for (const id of mixed) await startPortalSession(store, account, { id })
    const listed = await store.listPortalSessions(account.id, now)
    t.strictSame(
      listed.map(({ id }) => id),
      ordered,
    )
  })

  runCase(t, newPlace, 'and signing keys', async (t, _place, store) => {
    for (const kid of mixed) await store.addSigningKey(newSigningKey({ kid }))
    const listed = await store.listSigningKeys()
    t.strictSame(
      listed.map(({ kid }) => kid),
      ordered,
    )
  })
}
