import type { Account, StoredKey } from './account.ts'
import type { AccountChanges } from './accounts.ts'
import type { ApiKeyReset, SecretKeyReset } from './keys.ts'

/** What each verb turns an account into. Both adapters save the result only if the account has not changed since. */

export function withChanges(account: Account, changes: AccountChanges): Account {
  const isDisabling = changes.isDisabled === true && !account.isDisabled
  const isRoleChange = changes.role !== undefined && changes.role !== account.role
  const isEmailChange = changes.email !== undefined && changes.email !== account.email
  const portal = {
    ...account.portal,
    ...(isDisabling && { epoch: account.portal.epoch + 1, setupLink: undefined }),
    // A link that was sent earlier must not restore the old e-mail.
    ...(isEmailChange && { emailLink: undefined }),
  }
  return nextRevision(account, {
    ...changes,
    portal,
    ...(isDisabling && nextSessionEpoch(account)),
    ...(isRoleChange && { roleEpoch: account.roleEpoch + 1 }),
  })
}

export function withoutSessions(account: Account): Account {
  return nextRevision(account, nextSessionEpoch(account))
}

/** @returns undefined where the account's key is not the one to be replaced */
export function withSecretKey(account: Account, reset: SecretKeyReset): Account | undefined {
  const { secretKey, graceUntil } = reset
  if (!isExpectedKey(account.secretKey, reset.replaces)) return undefined
  if (graceUntil === undefined) {
    return nextRevision(account, { secretKey, previousSecretKey: undefined, ...nextSessionEpoch(account) })
  }
  const previousSecretKey = { digest: account.secretKey.digest, validUntil: graceUntil }
  return nextRevision(account, { secretKey, previousSecretKey })
}

/** @returns undefined where the account's key is not the one to be replaced */
export function withApiKey(account: Account, { apiKey, replaces }: ApiKeyReset): Account | undefined {
  return isExpectedKey(account.apiKey, replaces) ? nextRevision(account, { apiKey }) : undefined
}

/** @returns undefined where there is no previous key, or it has ended already */
export function withoutPreviousKey(account: Account, now: number): Account | undefined {
  const { previousSecretKey: previous } = account
  if (!previous || now >= previous.validUntil) return undefined
  return nextRevision(account, { previousSecretKey: undefined })
}

export function nextRevision(account: Account, changes: Partial<Account>): Account {
  return { ...account, ...changes, revision: account.revision + 1 }
}

/** Ends all sessions. */
function nextSessionEpoch({ sessionEpoch }: Account): Pick<Account, 'sessionEpoch'> {
  return { sessionEpoch: sessionEpoch + 1 }
}

function isExpectedKey({ digest }: StoredKey, replaces: Uint8Array | undefined): boolean {
  return replaces === undefined || Buffer.compare(digest, replaces) === 0
}
