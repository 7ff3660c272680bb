import type { Account } from '../account.ts'
import type { AccountStore, AccountUpdate } from '../accounts.ts'
import type { AuditEntry } from '../audit-entry.ts'
import { withAddedKey } from '../imported-keys.ts'
import type { KeyStore } from '../keys.ts'
import type { PortalStore, SecondFactorStore } from '../portal.ts'
import type { SessionStore } from '../sessions.ts'
import { withChanges, withoutSessions } from './account-changes.ts'
import {
  withApiKey,
  withoutPreviousKey,
  withoutSecretKey,
  withRenamedKey,
  withResealed,
  withSecretKey,
} from './key-changes.ts'
import { withChangedPasskey, withPasskey, withUsedPasskey } from './passkey-changes.ts'
import {
  withEmailLink,
  withIdentity,
  withLanguage,
  withNetwork,
  withoutIdentities,
  withoutPortalSessions,
  withoutSecondFactor,
  withPassword,
  withPasswordAttempt,
  withRecoveryCodes,
  withResetLink,
  withSecondFactor,
  withSettledAttempt,
  withSetupLink,
  withUsedFactor,
  withVerifiedEmail,
} from './portal-changes.ts'

/** The verbs that change one account, for any store that can replace one. */

/** Saves what `transform` returns, if anything, only if the account has not changed since it was read. */
export type Replace = (
  id: string,
  transform: (account: Account) => Account | undefined,
  audit?: AuditEntry,
) => Promise<Replacement>

/** The outcome of replacing an account; `refused` = `transform` returned nothing. */
export type Replacement = AccountUpdate | { readonly kind: 'refused' }

export function accountsByReplacing(replace: Replace): Pick<AccountStore, 'updateAccount'> {
  return {
    updateAccount: async (id, changes, audit) => {
      const update = await replace(id, (account) => withChanges(account, changes), audit)
      return update.kind === 'refused' ? { kind: 'unknown' } : update
    },
  }
}

type KeyVerbs = Pick<
  KeyStore,
  | 'resetSecretKey'
  | 'addSecretKey'
  | 'renameSecretKey'
  | 'revokeSecretKey'
  | 'resetApiKey'
  | 'resealAccount'
  | 'endOverlap'
>

export function keysByReplacing(replace: Replace): KeyVerbs {
  return {
    resetSecretKey: async (id, reset, audit) =>
      accountOf(await replace(id, (account) => withSecretKey(account, reset), audit)),
    addSecretKey: async (id, addition, audit) => {
      const { transform, outcome } = recordOutcome('added', (account) => withAddedKey(account, addition))
      const { kind } = await replace(id, transform, audit)
      if (kind === 'unknown') return kind
      // Nothing else of the account is changed: the index of imported keys has refused it.
      return kind !== 'updated' && outcome() === 'added' ? 'taken' : outcome()
    },
    renameSecretKey: async (id, renaming, audit) => {
      const { transform, outcome } = recordOutcome('renamed', (account) => withRenamedKey(account, renaming))
      await replace(id, transform, audit)
      return outcome()
    },
    revokeSecretKey: async (id, revocation, audit) =>
      accountOf(await replace(id, (account) => withoutSecretKey(account, revocation), audit)),
    resetApiKey: async (id, reset, audit) =>
      accountOf(await replace(id, (account) => withApiKey(account, reset), audit)),
    resealAccount: async (id, reseals, audit) =>
      isUpdated(await replace(id, (account) => withResealed(account, reseals), audit)),
    endOverlap: async (id, now, audit) =>
      isUpdated(await replace(id, (account) => withoutPreviousKey(account, now), audit)),
  }
}

/**
 * For a change that has its own reasons to refuse.
 * @param change returns the changed account, or the reason why it is not changed
 * @returns the transform for `Replace`, and the outcome of its last run; `unknown` = it was not run
 */
export function recordOutcome<Done extends string, Refusal extends string>(
  done: Done,
  change: (account: Account) => Account | Refusal,
) {
  let outcome: Done | Refusal | 'unknown' = 'unknown'

  function transform(account: Account): Account | undefined {
    const next = change(account)
    outcome = typeof next === 'string' ? next : done
    return typeof next === 'string' ? undefined : next
  }

  return { transform, outcome: () => outcome }
}

export function sessionsByReplacing(replace: Replace): Pick<SessionStore, 'endSessions'> {
  return { endSessions: async (id, audit) => isUpdated(await replace(id, withoutSessions, audit)) }
}

function secondFactorsByReplacing(replace: Replace): SecondFactorStore {
  return {
    enableSecondFactor: async (id, factor, audit) =>
      isUpdated(await replace(id, (account) => withSecondFactor(account, factor), audit)),
    useSecondFactor: async (id, use, audit) =>
      isUpdated(await replace(id, (account) => withUsedFactor(account, use), audit)),
    setRecoveryCodes: async (id, digests, audit) =>
      isUpdated(await replace(id, (account) => withRecoveryCodes(account, digests), audit)),
    disableSecondFactor: async (id, part, audit) =>
      isUpdated(await replace(id, (account) => withoutSecondFactor(account, part), audit)),
    addPasskey: async (id, addition, audit) => {
      const { transform, outcome } = recordOutcome('added', (account) => withPasskey(account, addition))
      await replace(id, transform, audit)
      return outcome()
    },
    usePasskey: async (id, use, audit) => {
      const { transform, outcome } = recordOutcome('used', (account) => withUsedPasskey(account, use))
      await replace(id, transform, audit)
      return outcome()
    },
    changePasskey: async (id, change, audit) =>
      isUpdated(await replace(id, (account) => withChangedPasskey(account, change), audit)),
  }
}

type PortalVerbs = Pick<
  PortalStore,
  | keyof SecondFactorStore
  | 'setPassword'
  | 'countPasswordAttempt'
  | 'settlePasswordAttempt'
  | 'setSetupLink'
  | 'setResetLink'
  | 'noteSignInNetwork'
  | 'setLanguage'
  | 'setEmailLink'
  | 'redeemEmailLink'
  | 'endPortalSessions'
  | 'linkIdentity'
  | 'unlinkIdentities'
>

export function portalByReplacing(replace: Replace): PortalVerbs {
  return {
    ...secondFactorsByReplacing(replace),
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
    setSetupLink: async (id, link, audit) =>
      isUpdated(await replace(id, (account) => withSetupLink(account, link), audit)),
    setResetLink: async (id, link, audit) =>
      isUpdated(await replace(id, (account) => withResetLink(account, link), audit)),
    noteSignInNetwork: async (id, network) => {
      const { kind, ...after } = await replace(id, (account) => withNetwork(account, network))
      if (kind !== 'updated' || !('account' in after)) return 'known'
      return after.account.portal.networks.length === 1 ? 'first' : 'new'
    },
    setLanguage: async (id, language) =>
      isUpdated(await replace(id, (account) => withLanguage(account, language))),
    setEmailLink: async (id, link, audit) =>
      isUpdated(await replace(id, (account) => withEmailLink(account, link), audit)),
    redeemEmailLink: async (id, use, audit) => {
      const { kind } = await replace(id, (account) => withVerifiedEmail(account, use), audit)
      if (kind === 'updated') return 'verified'
      return kind === 'last-admin' ? 'refused' : kind
    },
    linkIdentity: async (id, link, audit) => {
      const { kind } = await replace(id, (account) => withIdentity(account, link), audit)
      if (kind === 'updated') return 'linked'
      return kind === 'unknown' ? 'unknown' : 'refused'
    },
    unlinkIdentities: async (id, audit) => isUpdated(await replace(id, withoutIdentities, audit)),
    endPortalSessions: async (id, audit) => isUpdated(await replace(id, withoutPortalSessions, audit)),
  }
}

function isUpdated({ kind }: Replacement): boolean {
  return kind === 'updated'
}

function accountOf(replacement: Replacement): Account | undefined {
  return replacement.kind === 'updated' ? replacement.account : undefined
}
