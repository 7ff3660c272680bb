import { type Account, type AccountChanges, emailKey } from '../accounts.ts'

// What each verb turns an account into. Both adapters save the result only if the account has not changed since.

export function withChanges(account: Account, changes: AccountChanges): Account {
  const isDisabling = changes.isDisabled === true && !account.isDisabled
  const isRoleChange = changes.role !== undefined && changes.role !== account.role
  const isEmailChange = changes.email !== undefined && changes.email !== account.email
  // Only the old address was verified.
  const isMoved = changes.email !== undefined && emailKey(changes.email) !== emailKey(account.email)
  const portal = {
    ...account.portal,
    ...(isDisabling && { epoch: account.portal.epoch + 1, setupLink: undefined, resetLink: undefined }),
    // A link that was sent earlier must not restore the old e-mail.
    ...(isEmailChange && { emailLink: undefined }),
  }
  return nextRevision(account, {
    ...(isMoved && { isVerified: false }),
    ...changes,
    portal,
    ...(isDisabling && nextSessionEpoch(account)),
    ...(isRoleChange && { roleEpoch: account.roleEpoch + 1 }),
  })
}

export function withoutSessions(account: Account): Account {
  return nextRevision(account, nextSessionEpoch(account))
}

export function nextRevision(account: Account, changes: Partial<Account>): Account {
  return { ...account, ...changes, revision: account.revision + 1 }
}

/** Ends all sessions. */
export function nextSessionEpoch({ sessionEpoch }: Account): Pick<Account, 'sessionEpoch'> {
  return { sessionEpoch: sessionEpoch + 1 }
}
