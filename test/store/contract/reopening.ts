import type { Test } from 'tap'
import { type NewPlace, runCase } from '../place.ts'
import {
  createAccount,
  newSecretKey,
  newSigningKey,
  now,
  plain,
  second,
  startSession,
  useOf,
  withoutTimes,
} from '../samples.ts'

/** What a store knows after it was closed. */
export function reopeningCases(t: Test, newPlace: NewPlace): void {
  runCase(t, newPlace, 'a store that is opened again has everything', async (t, place, store) => {
    const account = await createAccount(store, { email: 'Ada@Example.com' })
    const session = await startSession(store, account)
    await store.rotateSession(useOf(session))
    const ended = await startSession(store, account)
    await store.endSession(ended.id, 'revoked')
    await store.resetSecretKey(account.id, { secretKey: newSecretKey(), graceUntil: now + second })
    const key = newSigningKey()
    await store.addSigningKey(key)
    const before = {
      account: await store.findAccount(account.id),
      sessions: await store.listSessions(account.id, { now, limit: 1_000 }),
      changes: await store.readChanges(0),
    }
    await store.close()

    const again = await place.open()
    t.strictSame(plain(await again.findAccountByEmail('ada@example.com')), plain(before.account))
    t.strictSame(await again.listSessions(account.id, { now, limit: 1_000 }), before.sessions)
    t.equal((await again.findSession(ended.id))?.end, 'revoked')
    t.strictSame(plain(await again.listSigningKeys()), plain([key]))
    t.strictSame(withoutTimes(await again.readChanges(0)), withoutTimes(before.changes))
    const current = await again.rotateSession(useOf(session, { generation: 2, now: now + 2 * second }))
    t.match(current, { kind: 'current', session: { generation: 3 } })
  })
}
