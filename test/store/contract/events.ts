import type { Test } from 'tap'
import type { PositionedEntry } from '#store/audit.ts'
import type { Store } from '#store/store.ts'
import { type NewPlace, openMany, runCase } from '../place.ts'
import { newAuditEntry } from '../portal-samples.ts'
import { hour, now } from '../samples.ts'

const own = newAuditEntry({ action: 'sign-in-failed' })
const act = newAuditEntry({ action: 'account-updated' })

function actionsIn(entries: readonly PositionedEntry[]): readonly string[] {
  return entries.map(({ text }) => JSON.parse(text).action)
}

async function readAll(store: Store, limit: number): Promise<readonly PositionedEntry[]> {
  const found: PositionedEntry[] = []
  for (;;) {
    const page = await store.readAuditAfter({ after: found.at(-1)?.position ?? '', limit })
    found.push(...page)
    if (page.length < limit) return found
  }
}

/** The contract of EventStore: how the audit log is followed, and what is kept of those who follow it. */
export function runEventContract(t: Test, newPlace: NewPlace): void {
  runCase(
    t,
    newPlace,
    'the entries of both chains are followed in the order in which they were written',
    async (t, _place, store) => {
      t.strictSame(await store.readAuditAfter({ after: '', limit: 10 }), [])
      const written = [own, act, act, own, own, act, own, act]
      for (const entry of written) await store.appendAudit(entry)
      const names = written.map(({ action }) => action)
      for (const limit of [1, 2, 3, 8, 9]) t.strictSame(actionsIn(await readAll(store, limit)), names)
      const { entries } = await store.findAudit({
        filter: { action: undefined, who: undefined },
        before: undefined,
        limit: 1,
      })
      const [{ position } = { position: '' }] = entries
      t.strictSame(
        await store.readAuditAfter({ after: position, limit: 10 }),
        [],
        'the newest position is the end',
      )
      await store.appendAudit(act)
      t.strictSame(actionsIn(await store.readAuditAfter({ after: position, limit: 10 })), [act.action])
    },
  )

  runCase(
    t,
    newPlace,
    'what is kept of a receiver is replaced only by whoever knows it, and everybody sees it',
    async (t, place, store) => {
      t.strictSame([...(await store.readReceivers())], [])
      t.equal(await store.replaceReceiver({ id: 'a', before: 'x', after: 'y' }), false)
      t.equal(await store.replaceReceiver({ id: 'a', before: '', after: '{"n":1}' }), true)
      t.equal(await store.replaceReceiver({ id: 'a', before: '', after: '{"n":2}' }), false)
      const other = await place.open()
      t.equal(await other.replaceReceiver({ id: 'a', before: '{"n":1}', after: '{"n":2}' }), true)
      t.equal(await other.replaceReceiver({ id: 'b', before: '', after: 'b' }), true)
      t.strictSame([...(await store.readReceivers())].toSorted(), [
        ['a', '{"n":2}'],
        ['b', 'b'],
      ])
      t.equal(await store.replaceReceiver({ id: 'a', before: '{"n":2}', after: '' }), true)
      t.strictSame([...(await other.readReceivers())], [['b', 'b']])
    },
  )

  runCase(t, newPlace, 'of many that replace the same, one does', async (t, place) => {
    const stores = await openMany(place, 5)
    const done = await Promise.all(
      stores.map((store, index) => store.replaceReceiver({ id: 'a', before: '', after: `${index}` })),
    )
    t.equal(done.filter(Boolean).length, 1)
  })

  runCase(t, newPlace, 'an entry is added once under an ID, by whoever is first', async (t, place, store) => {
    const heard: unknown[] = []
    store.onAudit((entry) => heard.push(entry))
    const once = { id: 'expiring a', keptUntil: now + 24 * hour, entry: act }
    const stores = await openMany(place, 4)
    const added = await Promise.all([store, ...stores].map((one) => one.appendAuditOnce(once)))
    t.equal(added.filter(Boolean).length, 1)
    t.equal(await store.appendAuditOnce(once), false)
    t.equal(await store.appendAuditOnce({ ...once, id: 'expiring b' }), true)
    t.strictSame(actionsIn(await readAll(store, 10)), [act.action, act.action])
    t.equal(heard.length, added[0] ? 2 : 1, 'heard where it was written')
  })
}
