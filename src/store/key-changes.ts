import type { Account, StoredKey } from './account.ts'
import { nextRevision, nextSessionEpoch } from './account-changes.ts'
import type { ApiKeyReset, SecretKeyReset } from './keys.ts'

/** What each verb of the keys turns an account into. */

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

function isExpectedKey({ digest }: StoredKey, replaces: Uint8Array | undefined): boolean {
  return replaces === undefined || Buffer.compare(digest, replaces) === 0
}
