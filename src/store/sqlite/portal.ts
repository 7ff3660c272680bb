import { portalByReplacing } from '../account-changes/by-replacing.ts'
import { type PortalSession, type PortalStore, portalSessionsMax } from '../portal.ts'
import type { AccountTable } from './accounts.ts'
import type { Database } from './database.ts'
import { insertOf, selectOf, toRow, valuesOf } from './rows.ts'
import type { Writer } from './writer.ts'

/** Passwords and links are stored with their account; portal sessions in separate rows. */
export function createPortalStore(
  { prepare, read, write }: Database,
  { writeAudited, changeRow }: Writer,
  accounts: AccountTable,
): PortalStore {
  const insert = prepare(insertOf('portalSession'))
  const selectOne = prepare(selectOf('portalSession', 'WHERE account_id = ? AND id = ?'))
  const selectAll = prepare(
    selectOf(
      'portalSession',
      'WHERE account_id = ? AND expires_at > ? AND epoch = ? ORDER BY created_at DESC, id',
    ),
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
    const { accountId, createdAt, epoch } = session
    removeExpired.run(accountId, createdAt, epoch)
    insert.run(toRow({ kind: 'portalSession', ...session }))
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
        return row && valuesOf('portalSession', row)
      }),
    touchPortalSession: (accountId, id, { at, address, userAgent }) =>
      write(() => void touch.run(at, address, userAgent, accountId, id)),
    listPortalSessions: async (accountId, now) =>
      read(() => {
        const owner = accounts.find(accountId)
        if (!owner || owner.isDisabled) return []
        return selectAll.all(accountId, now, owner.portal.epoch).map((row) => valuesOf('portalSession', row))
      }),
    endPortalSession: (accountId, id, audit) =>
      changeRow(() => removeOne.run(accountId, id), undefined, audit),
  }
}
