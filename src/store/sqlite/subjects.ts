import type { SubjectStore } from '../subjects.ts'
import type { Database } from './database.ts'
import { insertOf, selectOf, toRow, valuesOf } from './rows.ts'
import type { Writer } from './writer.ts'

export function createSubjectStore({ prepare, read }: Database, { changeRow }: Writer): SubjectStore {
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
        return row && valuesOf('blockedSubject', row)
      }),
    blockSubject: (blocked, audit) =>
      changeRow(
        () => insert.run(toRow({ kind: 'blockedSubject', ...blocked })),
        { kind: 'subject', principalId: blocked.principalId },
        audit,
      ),
    unblockSubject: (principalId, audit) =>
      changeRow(() => remove.run(principalId), { kind: 'subject', principalId }, audit),
    listBlockedSubjects: async ({ after, limit }) =>
      read(() =>
        selectPage
          .all(after?.blockedAt ?? Number.MAX_SAFE_INTEGER, after?.principalId ?? '', limit)
          .map((row) => valuesOf('blockedSubject', row)),
      ),
  }
}
