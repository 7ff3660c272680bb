import { portalByReplacing } from '../account-changes/by-replacing.ts'
import { type PortalSession, type PortalStore, portalSessionsMax } from '../portal.ts'
import type { AccountTable } from './accounts.ts'
import type { Database } from './database.ts'
import { ifDone, type Writer } from './writer.ts'

/** Passwords and links are stored with their account; portal sessions in separate rows. */
export function createPortalStore(
  { prepare, read, write }: Database,
  { writeAudited }: Writer,
  accounts: AccountTable,
): PortalStore {
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
    ...portalByReplacing(accounts.replace),
    findAccountByIdentity: async (identity) => read(() => accounts.findByIdentity(identity)),
    startPortalSession: (session, { revision }, audit) =>
      writeAudited(
        () => {
          const owner = accounts.find(session.accountId)
          if (!owner || owner.isDisabled || owner.revision !== revision) return 'account-changed'
          start({ ...session, seenAt: session.createdAt, epoch: owner.portal.epoch })
          return 'started'
        },
        (outcome) => (outcome === 'started' ? [] : undefined),
        audit,
      ),
    findPortalSession: async (accountId, id) =>
      read(() => {
        const row = selectOne.get(accountId, id)
        return row && toSession(row)
      }),
    touchPortalSession: (accountId, id, { at, address, userAgent }) =>
      write(() => void touch.run(at, address, userAgent, accountId, id)),
    listPortalSessions: async (accountId, now) =>
      read(() => {
        const owner = accounts.find(accountId)
        if (!owner || owner.isDisabled) return []
        return selectAll.all(accountId, now, owner.portal.epoch).map(toSession)
      }),
    endPortalSession: (accountId, id, audit) =>
      writeAudited(() => removeOne.run(accountId, id).changes === 1, ifDone(), audit),
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
