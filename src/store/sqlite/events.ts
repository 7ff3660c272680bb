import type { EventStore } from '../events.ts'
import type { Database } from './database.ts'
import { ifDone, type Writer } from './writer.ts'

/** How many IDs that need not be kept any more are removed when one is added. */
const removedPerAddition = 2

export function createEventStore(
  { prepare, read, writeUnsynced }: Database,
  { writeAudited }: Writer,
): EventStore {
  const selectReceivers = prepare('SELECT id, state FROM event_receivers')
  const selectReceiver = prepare('SELECT state FROM event_receivers WHERE id = ?')
  const saveReceiver = prepare(
    'INSERT INTO event_receivers (id, state) VALUES (?, ?) ON CONFLICT DO UPDATE SET state = excluded.state',
  )
  const removeReceiver = prepare('DELETE FROM event_receivers WHERE id = ?')
  const selectEntries = prepare('SELECT seq, entry FROM audit WHERE seq > ? ORDER BY seq LIMIT ?')
  const insertOnce = prepare('INSERT OR IGNORE INTO audit_once (id, kept_until) VALUES (?, ?)')
  const removeEnded = prepare(
    'DELETE FROM audit_once WHERE id IN (SELECT id FROM audit_once WHERE kept_until < ? ORDER BY kept_until LIMIT ?)',
  )

  return {
    readReceivers: async () =>
      read(() => new Map(selectReceivers.all().map(({ id, state }) => [String(id), String(state)]))),
    replaceReceiver: ({ id, before, after }) =>
      writeUnsynced(() => {
        if (String(selectReceiver.get(id)?.state ?? '') !== before) return false
        if (after === '') removeReceiver.run(id)
        else saveReceiver.run(id, after)
        return true
      }),
    readAuditAfter: async ({ after, limit }) =>
      read(() =>
        selectEntries
          .all(Number(after), limit)
          .map(({ seq, entry }) => ({ position: String(seq), text: String(entry) })),
      ),
    appendAuditOnce: ({ id, keptUntil, entry }) =>
      writeAudited(
        () => {
          removeEnded.run(entry.at, removedPerAddition)
          return insertOnce.run(id, keptUntil).changes === 1
        },
        ifDone(),
        entry,
      ),
  }
}
