import type { Account, AccountStore, AccountUpdate, AccountVerb } from '../accounts.ts'
import type { AuditEntry } from '../audit-entry.ts'
import type { KeyStore, SecretKeyAdded } from '../keys.ts'
import type { PortalStore } from '../portal.ts'
import type { EmailLink, OneTimeLink } from '../portal-access.ts'
import type { SessionStore } from '../sessions.ts'
import {
  withAddedKey,
  withApiKey,
  withChanges,
  withoutPreviousKey,
  withoutSecretKey,
  withoutSessions,
  withRenamedKey,
  withResealed,
  withSecretKey,
} from './account-changes.ts'
import {
  nextPortal,
  withChangedPasskey,
  withIdentity,
  withNetwork,
  withoutIdentities,
  withoutPortalSessions,
  withoutSecondFactor,
  withPasskey,
  withPassword,
  withPasswordAttempt,
  withRecoveryCodes,
  withSecondFactor,
  withSettledAttempt,
  withUsedFactor,
  withUsedPasskey,
  withVerifiedEmail,
} from './portal-changes.ts'

/** Saves what `transform` returns, if anything, only if the account has not changed since it was read. */
export type Replace = (
  id: string,
  transform: (account: Account) => Account | undefined,
  audit?: AuditEntry,
) => Promise<Replacement>

/** The outcome of replacing an account; `refused` = `transform` returned nothing. */
export type Replacement = AccountUpdate | { readonly kind: 'refused' }

/** The verbs that change one account, for any store that can replace one. */
export function accountsByReplacing(replace: Replace) {
  return {
    updateAccount: async (id, changes, audit) => {
      const update = await replace(id, (account) => withChanges(account, changes), audit)
      return update.kind === 'refused' ? { kind: 'unknown' } : update
    },
  } satisfies Partial<AccountStore>
}

export function keysByReplacing(replace: Replace) {
  const { verbForAccount, verbForChange, verbForOutcome } = createVerbs(replace)
  return {
    resetSecretKey: verbForAccount(withSecretKey),
    addSecretKey: async (id, addition, audit?) => {
      const { transform, outcome } = recordOutcome('added', (account) => withAddedKey(account, addition))
      const { kind } = await replace(id, transform, audit)
      return addKeyOutcome(kind, outcome())
    },
    renameSecretKey: verbForOutcome('renamed', withRenamedKey),
    revokeSecretKey: verbForAccount(withoutSecretKey),
    resetApiKey: verbForAccount(withApiKey),
    resealAccount: verbForChange(withResealed),
    endOverlap: verbForChange(withoutPreviousKey),
  } satisfies Partial<KeyStore>
}

/** The outcome of adding a key, from those of replacing the account and of changing it. */
export function addKeyOutcome(kind: Replacement['kind'], change: SecretKeyAdded): SecretKeyAdded {
  if (kind === 'unknown') return kind
  // The account itself could take the key, so it was the index of imported keys that refused it.
  return kind !== 'updated' && change === 'added' ? 'taken' : change
}

/** Turns changes of an account into verbs, which take the ID, the input of the change, and the audit entry. */
function createVerbs(replace: Replace) {
  type Change<Input, Refusal = undefined> = (account: Account, input: Input) => Account | Refusal

  return {
    /** It tells whether the change was made. */
    verbForChange:
      <Input>(change: Change<Input>): AccountVerb<Input, boolean> =>
      async (id, input, audit) =>
        (await replace(id, (account) => change(account, input), audit)).kind === 'updated',
    /** It returns the account after the change; undefined = it was not made. */
    verbForAccount:
      <Input>(change: Change<Input>): AccountVerb<Input, Account | undefined> =>
      async (id, input, audit) => {
        const replacement = await replace(id, (account) => change(account, input), audit)
        return replacement.kind === 'updated' ? replacement.account : undefined
      },
    /** It returns the outcome of a change that has its own reasons to refuse. */
    verbForOutcome:
      <Done extends string, Input, Refusal extends string>(
        done: Done,
        change: Change<Input, Refusal>,
      ): AccountVerb<Input, Done | Refusal | 'unknown'> =>
      async (id, input, audit) => {
        const { transform, outcome } = recordOutcome(done, (account) => change(account, input))
        await replace(id, transform, audit)
        return outcome()
      },
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

export function sessionsByReplacing(replace: Replace) {
  return {
    endSessions: async (id, audit) => (await replace(id, withoutSessions, audit)).kind === 'updated',
  } satisfies Partial<SessionStore>
}

export function portalByReplacing(replace: Replace) {
  const { verbForChange, verbForOutcome } = createVerbs(replace)
  return {
    enableSecondFactor: verbForChange(withSecondFactor),
    useSecondFactor: verbForChange(withUsedFactor),
    setRecoveryCodes: verbForChange(withRecoveryCodes),
    disableSecondFactor: verbForChange(withoutSecondFactor),
    addPasskey: verbForOutcome('added', withPasskey),
    usePasskey: verbForOutcome('used', withUsedPasskey),
    changePasskey: verbForChange(withChangedPasskey),
    setPassword: async (id, change, audit) => {
      const { kind } = await replace(id, (account) => withPassword(account, change), audit)
      if (kind === 'updated') return 'set'
      return kind === 'unknown' ? 'unknown' : 'refused'
    },
    countPasswordAttempt: async (id, client) => {
      const counted = await replace(id, (account) => withPasswordAttempt(account, client))
      if (counted.kind === 'unknown') return { kind: 'unknown' }
      if (counted.kind !== 'updated') return { kind: 'refused' }
      return { kind: 'counted', inARow: counted.account.portal.failures?.total ?? 0 }
    },
    settlePasswordAttempt: async (id, outcome, client) => {
      await replace(id, (account) => withSettledAttempt(account, outcome, client))
    },
    setSetupLink: verbForChange((account, setupLink: OneTimeLink) => nextPortal(account, { setupLink })),
    setResetLink: verbForChange((account, resetLink: OneTimeLink) => nextPortal(account, { resetLink })),
    noteSignInNetwork: async (id, network) => {
      const noted = await replace(id, (account) => withNetwork(account, network))
      if (noted.kind !== 'updated') return 'known'
      return noted.account.portal.networks.length === 1 ? 'first' : 'new'
    },
    setLanguage: verbForChange((account, language: string | undefined) => nextPortal(account, { language })),
    setEmailLink: verbForChange((account, emailLink: EmailLink) => nextPortal(account, { emailLink })),
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
    unlinkIdentities: async (id, audit) => (await replace(id, withoutIdentities, audit)).kind === 'updated',
    endPortalSessions: async (id, audit) =>
      (await replace(id, withoutPortalSessions, audit)).kind === 'updated',
  } satisfies Partial<PortalStore>
}
