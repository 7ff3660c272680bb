import type { KeyStore } from './keys.ts'
import type { PortalStore } from './portal.ts'
import {
  withEmailLink,
  withoutPortalSessions,
  withoutPreviousKey,
  withPassword,
  withPasswordAttempt,
  withSettledAttempt,
  withSetupLink,
  withVerifiedEmail,
} from './portal-changes.ts'
import type { Replace } from './replace.ts'

type PortalVerbs = Pick<
  PortalStore & KeyStore,
  | 'setPassword'
  | 'countPasswordAttempt'
  | 'settlePasswordAttempt'
  | 'setSetupLink'
  | 'setEmailLink'
  | 'redeemEmailLink'
  | 'endOverlap'
  | 'endPortalSessions'
>

/** The verbs of the portal that change an account, for any store that can replace one. */
export function createPortalVerbs(replace: Replace): PortalVerbs {
  async function isReplaced(...args: Parameters<Replace>): Promise<boolean> {
    return (await replace(...args)).kind === 'updated'
  }

  return {
    setPassword: async (id, change, audit) => {
      const { kind } = await replace(id, (account) => withPassword(account, change), audit)
      if (kind === 'updated') return 'set'
      return kind === 'unknown' ? 'unknown' : 'refused'
    },
    countPasswordAttempt: async (id, client) => {
      const counted = await replace(id, (account) => withPasswordAttempt(account, client))
      if (counted.kind === 'unknown') return { kind: 'unknown' }
      if (counted.kind !== 'updated') return { kind: 'refused' }
      return { kind: 'taken', inARow: counted.account.portal.failures?.total ?? 0 }
    },
    settlePasswordAttempt: async (id, outcome, client) => {
      await replace(id, (account) => withSettledAttempt(account, outcome, client))
    },
    setSetupLink: (id, link, audit) => isReplaced(id, (account) => withSetupLink(account, link), audit),
    setEmailLink: (id, link, audit) => isReplaced(id, (account) => withEmailLink(account, link), audit),
    redeemEmailLink: async (id, use, audit) => {
      const { kind } = await replace(id, (account) => withVerifiedEmail(account, use), audit)
      return kind === 'updated' ? 'verified' : kind
    },
    endOverlap: (id, now, audit) => isReplaced(id, (account) => withoutPreviousKey(account, now), audit),
    endPortalSessions: (id, audit) => isReplaced(id, withoutPortalSessions, audit),
  }
}
