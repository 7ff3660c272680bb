import type { Test } from 'tap'
import { type NewPlace, runCase } from '../place.ts'
import { newKey, newSecretKey, newSession, now, useOf } from '../samples.ts'

/** What the verbs answer where there is nothing: an answer, never a rejection. */
export function absenceCases(t: Test, newPlace: NewPlace): void {
  for (const id of ['nobody', '', '%', '*', '{account}:emails', "' OR 1=1 --"]) {
    runCase(t, newPlace, `the absence of "${id}" is an answer, not a failure`, async (t, _place, store) => {
      t.equal(await store.findAccount(id), undefined)
      t.equal(await store.findAccountByEmail(id), undefined)
      t.strictSame(await store.updateAccount(id, { role: 'Admin' }), { kind: 'unknown' })
      t.equal(await store.deleteAccount(id), 'unknown')
      t.equal(await store.resetSecretKey(id, { secretKey: newSecretKey(), graceUntil: undefined }), undefined)
      t.equal(
        await store.addSecretKey(id, { secretKey: newSecretKey({ name: 'ci' }), keysMax: 20 }),
        'unknown',
      )
      t.equal(await store.revokeSecretKey(id, { name: 'ci', now, graceUntil: undefined }), undefined)
      t.equal(await store.resetApiKey(id, { apiKey: newKey() }), undefined)
      t.equal(
        await store.startSession(newSession({ id, secretKeys: [] }), { revision: 1, sessionEpoch: 1 }),
        'account-changed',
      )
      t.strictSame(await store.rotateSession(useOf({ id })), { kind: 'over', reason: 'unknown' })
      t.equal(await store.findSession(id), undefined)
      t.strictSame(await store.listSessions(id, { now, limit: 1_000 }), [])
      t.equal(await store.endSession(id, 'revoked'), false)
      t.equal(await store.endSessions(id), false)
      t.equal(await store.retireSigningKey(id), false)
      t.equal(await store.findBlockedSubject(id), undefined)
      t.equal(await store.unblockSubject(id), false)
      t.strictSame(await store.listBlockedSubjects({ after: undefined, limit: 10 }), [])
      t.strictSame(await store.listSigningKeys(), [])
      t.strictSame(await store.readChanges(undefined), { head: 0, changes: [], completeSince: 0 })
    })
  }
}
