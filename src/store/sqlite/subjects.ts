import type { BlockedSubject, SubjectStore } from '../subjects.ts'
import type { Database } from './database.ts'
import { insertOf, type Row, selectOf, toRecord, toRow } from './record-rows.ts'
import { ifDone, type Writer } from './writer.ts'

export function createSubjectStore({ prepare, read }: Database, { writeAudited }: Writer): SubjectStore {
  const select = prepare(selectOf('blockedSubject', 'WHERE principal_id = ?'))
  const selectPage = prepare(
    selectOf(
      'blockedSubject',
      'WHERE (blocked_at, principal_id) < (?, ?) ORDER BY blocked_at DESC, principal_id DESC LIMIT ?',
    ),
  )
  const insert = prepare(insertOf('blockedSubject', 'INSERT OR IGNORE'))
  const remove = prepare('DELETE FROM blocked_subjects WHERE principal_id = ?')

  return {
    findBlockedSubject: async (principalId) =>
      read(() => {
        const row = select.get(principalId)
        return row && toSubject(row)
      }),
    blockSubject: (blocked, audit) =>
      writeAudited(
        () => insert.run(toRow({ kind: 'blockedSubject', ...blocked })).changes === 1,
        ifDone({ kind: 'subject', principalId: blocked.principalId }),
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
        selectPage
          .all(after?.blockedAt ?? Number.MAX_SAFE_INTEGER, after?.principalId ?? '', limit)
          .map(toSubject),
      ),
  }
}

function toSubject(row: Row): BlockedSubject {
  const { kind: _, ...subject } = toRecord('blockedSubject', row)
  return subject
}
