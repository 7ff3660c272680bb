import type { Account, AccountChanges, SecretKeyReset, StoredKey } from './store.ts'

/** What each verb makes of an account. Both adapters save the result, in one step with what it was made from. */

export function withChanges(account: Account, changes: AccountChanges): Account {
  const endsSessions = changes.isDisabled === true && !account.isDisabled
  return next(account, { ...changes, ...(endsSessions && endedSessions(account)) })
}

export function withSecretKey(account: Account, { secretKey, graceUntil }: SecretKeyReset): Account {
  if (graceUntil === undefined) {
    return next(account, { secretKey, previousSecretKey: undefined, ...endedSessions(account) })
  }
  const previousSecretKey = { digest: account.secretKey.digest, validUntil: graceUntil }
  return next(account, { secretKey, previousSecretKey })
}

export function withApiKey(account: Account, apiKey: StoredKey): Account {
  return next(account, { apiKey })
}

export function withoutSessions(account: Account): Account {
  return next(account, endedSessions(account))
}

function endedSessions({ sessionEpoch }: Account): Pick<Account, 'sessionEpoch'> {
  return { sessionEpoch: sessionEpoch + 1 }
}

function next(account: Account, changes: Partial<Account>): Account {
  return { ...account, ...changes, revision: account.revision + 1 }
}
