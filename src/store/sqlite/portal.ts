import type { AuditStore } from '../audit.ts'
import { accountChange } from '../changes.ts'
import type { KeyStore } from '../keys.ts'
import type { PortalStore } from '../portal.ts'
import { createPortalVerbs } from '../portal-verbs.ts'
import type { Replace } from '../replace.ts'
import type { openAccountTable } from './accounts.ts'
import type { Database } from './database.ts'
import type { openKeyUseTable } from './key-uses.ts'
import type { openPortalSessionTable } from './portal-sessions.ts'
import type { Writer } from './writer.ts'

interface Tables {
  readonly accounts: ReturnType<typeof openAccountTable>
  readonly portalSessions: ReturnType<typeof openPortalSessionTable>
  readonly keyUses: ReturnType<typeof openKeyUseTable>
}

/** The verbs of the portal on the tables of a database. */
export function openPortal(
  { read, write }: Database,
  { writeChange, writeUncached, audit, onAudit }: Writer,
  { accounts, portalSessions, keyUses }: Tables,
): PortalStore & AuditStore & Pick<KeyStore, 'endOverlap' | 'recordKeyUses' | 'findKeyUses'> {
  const replace: Replace = (id, transform, entry) =>
    writeChange(
      () => accounts.tryReplace(id, transform),
      ({ kind }) => accountChange(id)(kind === 'updated'),
      entry,
    )

  return {
    ...createPortalVerbs(replace),

    startPortalSession: (session, { revision }, entry) =>
      writeUncached(
        () => {
          const owner = accounts.find(session.accountId)
          if (!owner || owner.isDisabled || owner.revision !== revision) return 'account-changed'
          portalSessions.start({ ...session, seenAt: session.createdAt, epoch: owner.portal.epoch })
          return 'started'
        },
        (outcome) => outcome === 'started',
        entry && [entry],
      ),
    findPortalSession: async (accountId, id) => read(() => portalSessions.find(accountId, id)),
    touchPortalSession: async (accountId, id, seen) => write(() => portalSessions.touch(accountId, id, seen)),
    listPortalSessions: async (accountId, now) =>
      read(() => {
        const owner = accounts.find(accountId)
        return owner && !owner.isDisabled ? portalSessions.list(accountId, now, owner.portal.epoch) : []
      }),
    endPortalSession: (accountId, id, entry) =>
      writeUncached(() => portalSessions.end(accountId, id), Boolean, entry && [entry]),

    recordKeyUses: async (uses) => {
      if (uses.length > 0) await write(() => uses.forEach(keyUses.record))
    },
    findKeyUses: async (accountId) => read(() => keyUses.find(accountId)),

    appendAudit: (entry) =>
      writeUncached(
        () => {},
        () => true,
        [entry],
      ),
    findAudit: async ({ filter, before, limit }) => read(() => audit.find(filter, before, limit)),
    readAuditChains: async () => read(audit.chains),
    readAuditChain: async (page) => read(() => audit.page(page)),
    onAudit,
  }
}
