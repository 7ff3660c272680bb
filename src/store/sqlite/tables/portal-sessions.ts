import { type PortalSession, portalSessionsMax } from '../../portal.ts'
import type { Visitor } from '../../visitor.ts'
import type { Database } from '../database.ts'

/** The portal_sessions table. Every function is to be called within a read or a write. */
export function openPortalSessionTable({ prepare }: Database) {
  const insert = prepare(
    `INSERT INTO portal_sessions (account_id, id, digest, created_at, expires_at, seen_at, address, client, epoch)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const selectOne = prepare('SELECT * FROM portal_sessions WHERE account_id = ? AND id = ?')
  const selectAll = prepare(
    `SELECT * FROM portal_sessions WHERE account_id = ? AND expires_at > ? AND epoch = ?
     ORDER BY created_at DESC, id`,
  )
  const touch = prepare(
    'UPDATE portal_sessions SET seen_at = ?, address = ?, client = ? WHERE account_id = ? AND id = ?',
  )
  const removeOne = prepare('DELETE FROM portal_sessions WHERE account_id = ? AND id = ?')
  const removeAll = prepare('DELETE FROM portal_sessions WHERE account_id = ?')
  const removeExpired = prepare(
    'DELETE FROM portal_sessions WHERE account_id = ? AND (expires_at <= ? OR epoch <> ?)',
  )
  const removeOldest = prepare(
    `DELETE FROM portal_sessions WHERE account_id = ?1 AND id NOT IN
       (SELECT id FROM portal_sessions WHERE account_id = ?1 ORDER BY created_at DESC, id LIMIT ?2)`,
  )

  function start(session: PortalSession): void {
    const { accountId, id, digest, createdAt, expiresAt, seenAt, address, userAgent, epoch } = session
    removeExpired.run(accountId, createdAt, epoch)
    insert.run(accountId, id, digest, createdAt, expiresAt, seenAt, address, userAgent, epoch)
    removeOldest.run(accountId, portalSessionsMax)
  }

  return {
    start,
    find: (accountId: string, id: string) => {
      const row = selectOne.get(accountId, id)
      return row && toSession(row)
    },
    list: (accountId: string, now: number, epoch: number) =>
      selectAll.all(accountId, now, epoch).map(toSession),
    touch: (accountId: string, id: string, { at, address, userAgent }: Visitor & { readonly at: number }) =>
      void touch.run(at, address, userAgent, accountId, id),
    end: (accountId: string, id: string) => Number(removeOne.run(accountId, id).changes) > 0,
    removeAll: (accountId: string) => void removeAll.run(accountId),
  }
}

function toSession(row: Record<string, unknown>): PortalSession {
  return {
    id: String(row.id),
    accountId: String(row.account_id),
    digest: String(row.digest),
    createdAt: Number(row.created_at),
    expiresAt: Number(row.expires_at),
    seenAt: Number(row.seen_at),
    address: String(row.address),
    userAgent: String(row.client),
    epoch: Number(row.epoch),
  }
}
