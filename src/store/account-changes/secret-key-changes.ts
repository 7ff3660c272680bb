import type { Account } from '../account.ts'
import type { SecretKeyAdded, SecretKeyAddition, SecretKeyReset, SecretKeyRevocation } from '../keys.ts'
import { defaultKeyName, defaultKeyOf, namedKeyOf, overlappingKeyOf, type SecretKey } from '../secret-keys.ts'
import { isExpectedKey, nextRevision, nextSessionEpoch } from './account-changes.ts'

/** What each verb for secret keys turns an account into: see account-changes.ts. */

/** @returns undefined where the account's key is not the one to be replaced */
export function withSecretKey(account: Account, reset: SecretKeyReset): Account | undefined {
  const { secretKey, graceUntil } = reset
  const before = defaultKeyOf(account)
  if (!isExpectedKey(before, reset.replaces)) return undefined
  const others = account.secretKeys.filter(({ name }) => name !== defaultKeyName)
  if (before && graceUntil !== undefined) {
    const replaced = { ...before, sealed: undefined, revokedAt: graceUntil }
    return withSecretKeys(account, [replaced, { ...secretKey, id: before.id }, ...others])
  }
  return withSecretKeys(account, [secretKey, ...others])
}

export function withNewSecretKey(
  account: Account,
  { secretKey, keysMax }: SecretKeyAddition,
): Account | Exclude<SecretKeyAdded, 'added' | 'unknown'> {
  if (namedKeyOf(account, secretKey.name)) return 'exists'
  const counted = account.secretKeys.filter(({ revokedAt }) => revokedAt === undefined)
  if (counted.length >= keysMax) return 'too-many'
  return withSecretKeys(account, [...account.secretKeys, secretKey])
}

/** @returns undefined where there is no such key */
export function withoutSecretKey(
  account: Account,
  { name, now, graceUntil, only }: SecretKeyRevocation,
): Account | undefined {
  const current = account.secretKeys.filter(({ revokedAt }) => revokedAt === undefined || now < revokedAt)
  const isMeant = (key: SecretKey) =>
    key.name === name && (only === undefined || Buffer.compare(key.digest, only) === 0)
  if (!current.some(isMeant)) return undefined
  const left = current.flatMap((key) => {
    if (!isMeant(key)) return [key]
    if (graceUntil === undefined) return []
    return [{ ...key, revokedAt: Math.min(graceUntil, key.revokedAt ?? graceUntil) }]
  })
  return withSecretKeys(account, left)
}

/** @returns undefined where there is no previous key, or it has ended already */
export function withoutPreviousKey(account: Account, now: number): Account | undefined {
  const previous = overlappingKeyOf(account, now)
  if (!previous) return undefined
  return withSecretKeys(
    account,
    account.secretKeys.filter((key) => key !== previous),
  )
}

/**
 * The account with other secret keys. Where none of the old ones is left, all sessions end: in one small step, however
 * many there are.
 */
function withSecretKeys(account: Account, secretKeys: readonly SecretKey[]): Account {
  const hasKept = account.secretKeys.some(({ id }) => secretKeys.some((key) => key.id === id))
  return nextRevision(account, { secretKeys, ...(!hasKept && nextSessionEpoch(account)) })
}
