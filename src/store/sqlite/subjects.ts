import type { BlockedSubject, SubjectStore } from '../subjects.ts'
import type { Database } from './database.ts'
import { ifDone, type Writer } from './writer.ts'

export function createSubjectStore({ prepare, read }: Database, { writeAudited }: Writer): SubjectStore {
  const select = prepare('SELECT principal_id, blocked_at FROM blocked_subjects WHERE principal_id = ?')
  const selectFirst = prepare(
    'SELECT principal_id, blocked_at FROM blocked_subjects ORDER BY blocked_at DESC, principal_id DESC LIMIT ?',
  )
  const selectAfter = prepare(
    `SELECT principal_id, blocked_at FROM blocked_subjects WHERE (blocked_at, principal_id) < (?, ?)
     ORDER BY blocked_at DESC, principal_id DESC LIMIT ?`,
  )
  const insert = prepare('INSERT OR IGNORE INTO blocked_subjects (principal_id, blocked_at) VALUES (?, ?)')
  const remove = prepare('DELETE FROM blocked_subjects WHERE principal_id = ?')

  return {
    findBlockedSubject: async (principalId) =>
      read(() => {
        const row = select.get(principalId)
        return row && toSubject(row)
      }),
    blockSubject: ({ principalId, blockedAt }, audit) =>
      writeAudited(
        () => insert.run(principalId, blockedAt).changes === 1,
        ifDone({ kind: 'subject', principalId }),
        audit,
      ),
    unblockSubject: (principalId, audit) =>
      writeAudited(
        () => remove.run(principalId).changes === 1,
        ifDone({ kind: 'subject', principalId }),
        audit,
      ),
    listBlockedSubjects: async ({ after, limit }) =>
      read(() =>
        (after ? selectAfter.all(after.blockedAt, after.principalId, limit) : selectFirst.all(limit)).map(
          toSubject,
        ),
      ),
  }
}

function toSubject(row: Record<string, unknown>): BlockedSubject {
  return { principalId: String(row.principal_id), blockedAt: Number(row.blocked_at) }
}
