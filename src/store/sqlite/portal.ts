import { ofAccount } from '../changes.ts'
import type { PortalStore } from '../portal-store.ts'
import { createPortalVerbs } from '../portal-verbs.ts'
import type { Replace } from '../replace.ts'
import type { openAccounts } from './accounts.ts'
import type { Database } from './database.ts'
import type { openKeyUses } from './key-uses.ts'
import type { openPortalSessions } from './portal-sessions.ts'
import type { Writer } from './writer.ts'

interface Tables {
  readonly accounts: ReturnType<typeof openAccounts>
  readonly portalSessions: ReturnType<typeof openPortalSessions>
  readonly keyUses: ReturnType<typeof openKeyUses>
}

/** The verbs of the portal on the tables of a database. */
export function openPortal(
  { read, write }: Database,
  { change, act, audit, onAudit }: Writer,
  { accounts, portalSessions, keyUses }: Tables,
): PortalStore {
  const replace: Replace = (id, become, entry) =>
    change(
      () => accounts.tryReplace(id, become),
      ({ kind }) => ofAccount(id)(kind === 'updated'),
      entry,
    )

  return {
    ...createPortalVerbs(replace),

    startPortalSession: (session, { revision }, entry) =>
      act(
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
    seePortalSession: async (accountId, id, seen) => write(() => portalSessions.see(accountId, id, seen)),
    listPortalSessions: async (accountId, now) =>
      read(() => {
        const owner = accounts.find(accountId)
        return owner && !owner.isDisabled ? portalSessions.list(accountId, now, owner.portal.epoch) : []
      }),
    endPortalSession: (accountId, id, entry) =>
      act(() => portalSessions.end(accountId, id), Boolean, entry && [entry]),

    noteKeyUses: async (uses) => {
      if (uses.length > 0) await write(() => uses.forEach(keyUses.note))
    },
    findKeyUses: async (accountId) => read(() => keyUses.find(accountId)),

    appendAudit: (entry) =>
      act(
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
