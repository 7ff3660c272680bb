import type { AuditEntry } from './audit.ts'
import {
  withEmailLink,
  withoutPortalSessions,
  withoutPreviousKey,
  withPassword,
  withSetupLink,
  withVerifiedEmail,
} from './portal-changes.ts'
import type { PortalStore } from './portal-store.ts'
import type { Account, AccountUpdate } from './store.ts'

/** What came of an attempt to make something else of an account. */
export type Replacement = AccountUpdate | { readonly kind: 'refused' }

/** Saves what becomes of an account, if anything, in one step with what it was made from. */
export type Replace = (
  id: string,
  become: (account: Account) => Account | undefined,
  audit?: AuditEntry,
) => Promise<Replacement>

type PortalAccessVerbs = Pick<
  PortalStore,
  'setPassword' | 'setSetupLink' | 'setEmailLink' | 'useEmailLink' | 'endOverlap' | 'endPortalSessions'
>

/** The verbs of the portal that change an account, for any store that can replace one. */
export function openPortalAccess(replace: Replace): PortalAccessVerbs {
  async function isReplaced(...args: Parameters<Replace>): Promise<boolean> {
    return (await replace(...args)).kind === 'updated'
  }

  return {
    setPassword: async (id, change, audit) => {
      const { kind } = await replace(id, (account) => withPassword(account, change), audit)
      if (kind === 'updated') return 'set'
      return kind === 'unknown' ? 'unknown' : 'refused'
    },
    setSetupLink: (id, link, audit) => isReplaced(id, (account) => withSetupLink(account, link), audit),
    setEmailLink: (id, link, audit) => isReplaced(id, (account) => withEmailLink(account, link), audit),
    useEmailLink: async (id, use, audit) => {
      const { kind } = await replace(id, (account) => withVerifiedEmail(account, use), audit)
      return kind === 'updated' ? 'verified' : kind
    },
    endOverlap: (id, now, audit) => isReplaced(id, (account) => withoutPreviousKey(account, now), audit),
    endPortalSessions: (id, audit) => isReplaced(id, withoutPortalSessions, audit),
  }
}
