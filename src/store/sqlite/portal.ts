import { portalByReplacing, type Replace } from '../account-changes/by-replacing.ts'
import type { PortalStore } from '../portal.ts'
import { identityKeyOf } from '../portal-access.ts'
import type { Database } from './database.ts'
import type { Tables } from './tables/tables.ts'
import type { Writer } from './writer.ts'

interface Options {
  readonly writer: Writer
  readonly tables: Pick<Tables, 'accounts' | 'portalSessions'>
  readonly replace: Replace
}

export function openPortal(
  { read, write }: Database,
  { writer: { writeUncached }, tables: { accounts, portalSessions }, replace }: Options,
): PortalStore {
  return {
    ...portalByReplacing(replace),
    findAccountByIdentity: async (identity) =>
      read(() => accounts.findByIdentity(identityKeyOf({ identity }) ?? '')),
    startPortalSession: (session, { revision }, audit) =>
      writeUncached(
        () => {
          const owner = accounts.find(session.accountId)
          if (!owner || owner.isDisabled || owner.revision !== revision) return 'account-changed'
          portalSessions.start({ ...session, seenAt: session.createdAt, epoch: owner.portal.epoch })
          return 'started'
        },
        (outcome) => outcome === 'started',
        audit && [audit],
      ),
    findPortalSession: async (accountId, id) => read(() => portalSessions.find(accountId, id)),
    touchPortalSession: async (accountId, id, seen) => write(() => portalSessions.touch(accountId, id, seen)),
    listPortalSessions: async (accountId, now) =>
      read(() => {
        const owner = accounts.find(accountId)
        return owner && !owner.isDisabled ? portalSessions.list(accountId, now, owner.portal.epoch) : []
      }),
    endPortalSession: (accountId, id, audit) =>
      writeUncached(() => portalSessions.end(accountId, id), Boolean, audit && [audit]),
  }
}
