import type { BlockedSubject, BlockedSubjectList } from '../../subjects.ts'
import type { Database } from '../database.ts'

/** The table of blocked principals. Every function is to be called within a read or a write. */
export function openSubjectTable({ prepare }: Database) {
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

  function list({ after, limit }: BlockedSubjectList): readonly BlockedSubject[] {
    const rows = after ? selectAfter.all(after.blockedAt, after.principalId, limit) : selectFirst.all(limit)
    return rows.map(toSubject)
  }

  function find(principalId: string): BlockedSubject | undefined {
    const row = select.get(principalId)
    return row && toSubject(row)
  }

  return {
    find,
    list,
    add: ({ principalId, blockedAt }: BlockedSubject) =>
      Number(insert.run(principalId, blockedAt).changes) > 0,
    remove: (principalId: string) => Number(remove.run(principalId).changes) > 0,
  }
}

function toSubject(row: Record<string, unknown>): BlockedSubject {
  return { principalId: String(row.principal_id), blockedAt: Number(row.blocked_at) }
}
