import type { Test } from 'tap'
import type { BlockedSubject } from '#store/subjects.ts'
import { type NewPlace, openMany, runCase } from '../place.ts'
import { newAuditEntry } from '../portal-samples.ts'
import { hour, now } from '../samples.ts'

const blocked = (principalId: string, blockedAt = now): BlockedSubject => ({ principalId, blockedAt })
const longId = `corp:${'%E2%82%AC'.repeat(255)}`

/** The contract of SubjectStore: which principals of foreign issuers are blocked. */
export function runSubjectContract(t: Test, newPlace: NewPlace): void {
  runCase(
    t,
    newPlace,
    'a subject is blocked until it is unblocked, for every process',
    async (t, place, store) => {
      t.equal(await store.findBlockedSubject('corp:ada'), undefined)
      t.equal(await store.blockSubject(blocked('corp:ada')), true)
      t.strictSame(await store.findBlockedSubject('corp:ada'), blocked('corp:ada'))
      const other = await place.open()
      t.strictSame(await other.findBlockedSubject('corp:ada'), blocked('corp:ada'))
      for (const near of ['corp:Ada', 'corp:ad', 'corp:ada2', 'other:ada', 'corp:'])
        t.equal(await store.findBlockedSubject(near), undefined, near)
      t.equal(await other.unblockSubject('corp:ada'), true)
      t.equal(await store.findBlockedSubject('corp:ada'), undefined)
      t.equal(await store.unblockSubject('corp:ada'), false)
    },
  )

  runCase(
    t,
    newPlace,
    'a subject that is blocked again keeps the time of the first',
    async (t, _place, store) => {
      await store.blockSubject(blocked('corp:ada'))
      t.equal(await store.blockSubject(blocked('corp:ada', now + hour)), false)
      t.strictSame(await store.findBlockedSubject('corp:ada'), blocked('corp:ada'))
    },
  )

  runCase(
    t,
    newPlace,
    'the change log names a subject that is blocked or unblocked, once each, and the audit log too',
    async (t, place, store) => {
      await store.blockSubject(blocked('corp:before'))
      const { head } = await store.readChanges(undefined)
      const heard: unknown[] = []
      store.onChange(({ change }) => heard.push(change))
      const entry = newAuditEntry({ action: 'subject-blocked' })
      await store.blockSubject(blocked('corp:ada'), entry)
      await store.blockSubject(blocked('corp:ada'), entry)
      await store.unblockSubject('corp:ada')
      await store.unblockSubject('corp:ada')
      await store.blockSubject(blocked(longId))
      const change = { kind: 'subject', principalId: 'corp:ada' }
      const expected = [change, change, { kind: 'subject', principalId: longId }]
      t.strictSame(heard, expected, 'before the call resolves')
      const { changes } = await (await place.open()).readChanges(head)
      t.strictSame(
        changes?.map((logged) => logged.change),
        expected,
      )
      t.equal((await store.readChanges(undefined)).head, head + 3)
      const audit = await store.findAudit({
        filter: { action: 'subject-blocked', who: undefined },
        before: undefined,
        limit: 10,
      })
      t.equal(audit.entries.length, 1)
    },
  )

  runCase(t, newPlace, 'blocked subjects are listed in pages, newest first', async (t, _place, store) => {
    const subjects = [
      blocked('corp:a', now),
      blocked('corp:b', now),
      blocked('corp:c', now + 1),
      blocked('other:a', now),
      blocked(longId, now - hour),
    ]
    for (const subject of subjects) await store.blockSubject(subject)
    const expected = ['corp:c', 'other:a', 'corp:b', 'corp:a', longId]
    const all = await store.listBlockedSubjects({ after: undefined, limit: 10 })
    t.strictSame(
      all.map(({ principalId }) => principalId),
      expected,
    )
    for (const [index, after] of all.entries()) {
      const rest = await store.listBlockedSubjects({ after, limit: 2 })
      t.strictSame(
        rest.map(({ principalId }) => principalId),
        expected.slice(index + 1, index + 3),
      )
    }
    await store.unblockSubject('corp:b')
    const afterGone = await store.listBlockedSubjects({ after: blocked('corp:b', now), limit: 10 })
    t.strictSame(afterGone, [blocked('corp:a', now), blocked(longId, now - hour)])
  })

  runCase(
    t,
    newPlace,
    'of many that block one subject at once exactly one succeeds',
    async (t, place, store) => {
      const stores = await openMany(place, 6)
      const outcomes = await Promise.all(stores.map((one) => one.blockSubject(blocked('corp:ada'))))
      t.equal(outcomes.filter((isNew) => isNew).length, 1)
      t.strictSame(await store.listBlockedSubjects({ after: undefined, limit: 10 }), [blocked('corp:ada')])
    },
  )
}
