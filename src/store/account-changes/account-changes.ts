import { isSameBytes } from '#platform/secrets/sealing.ts'
import { base64url } from '#platform/text.ts'
import type { EpochMs } from '#platform/time.ts'
import { type Account, type AccountChanges, emailKey } from '../accounts.ts'
import {
  type ApiKeyReset,
  digestText,
  importedDigests,
  type SecretKeyAddition,
  type SecretKeyRenamed,
  type SecretKeyRenaming,
  type SecretKeyReset,
  type SecretKeyRevocation,
} from '../keys.ts'
import { namedKeyOf, overlappingKeyOf, type Reseal, type SecretKey, type StoredKey } from '../secret-keys.ts'

// What each verb turns an account into; those of the portal are in portal-changes.ts. Both adapters save the result
// only if the account has not changed since.

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

/**
 * If the new key has the digest of the one that it replaces, that key stays: only its limits change, and during an
 * overlap those of the old key of the same name too.
 * @returns undefined if the account's key is not the one to replace
 */
export function withSecretKey(account: Account, reset: SecretKeyReset): Account | undefined {
  const { secretKey, graceUntil } = reset
  const isOfName = ({ name }: SecretKey) => name === secretKey.name
  const before = namedKeyOf(account, secretKey.name)
  if (!isExpectedKey(before, reset.replaces)) return undefined
  if (before && isExpectedKey(before, secretKey.digest)) return withNewLimits(account, before, secretKey)
  const replaced =
    before && graceUntil !== undefined
      ? [
          { ...before, sealed: undefined, revokedAt: graceUntil },
          { ...secretKey, id: before.id },
        ]
      : [secretKey]
  // The new key takes the index of the old one; a default key that had been revoked comes first again.
  const place = Math.max(account.secretKeys.findIndex(isOfName), 0)
  const others = account.secretKeys.filter((key) => !isOfName(key))
  return withSecretKeys(account, others.toSpliced(place, 0, ...replaced))
}

function withNewLimits(account: Account, before: SecretKey, secretKey: SecretKey): Account {
  const { name, id, scopes, addresses, quota, expiresAt } = secretKey
  const limited = ({ quota: _, ...key }: SecretKey) => ({
    ...key,
    id,
    scopes,
    addresses,
    ...(quota && { quota }),
    expiresAt,
  })
  const secretKeys = account.secretKeys.map((key) => {
    if (key === before) return secretKey
    return key.name === name ? limited(key) : key
  })
  return withSecretKeys(account, secretKeys)
}

/** Sessions and uses are not affected, as they refer to a key by its ID and digest. */
export function withRenamedKey(
  account: Account,
  { name, to }: SecretKeyRenaming,
): Account | Exclude<SecretKeyRenamed, 'renamed'> {
  if (!namedKeyOf(account, name)) return 'unknown'
  if (account.secretKeys.some((key) => key.name === to)) return 'exists'
  const secretKeys = account.secretKeys.map((key) => (key.name === name ? { ...key, name: to } : key))
  return withSecretKeys(account, secretKeys)
}

/** @returns the account with the key, imported or new, or why not */
export function withAddedKey(
  account: Account,
  { secretKey, keysMax }: SecretKeyAddition,
): Account | 'present' | 'exists' | 'too-many' {
  if (importedDigests(account).includes(digestText(secretKey))) return 'present'
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
    key.name === name && (only === undefined || isSameBytes(key.digest, only))
  if (!current.some(isMeant)) return undefined
  const left = current.flatMap((key) => {
    if (!isMeant(key)) return [key]
    if (graceUntil === undefined) return []
    return [{ ...key, revokedAt: Math.min(graceUntil, key.revokedAt ?? graceUntil) }]
  })
  return withSecretKeys(account, left)
}

/** @returns undefined where there is no previous key, or it has ended already */
export function withoutPreviousKey(account: Account, now: EpochMs): Account | undefined {
  const previous = overlappingKeyOf(account, now)
  if (!previous) return undefined
  return withSecretKeys(
    account,
    account.secretKeys.filter((key) => key !== previous),
  )
}

/**
 * The account with other secret keys. If none of the old ones is left, all sessions end, in one small step however many
 * there are.
 */
function withSecretKeys(account: Account, secretKeys: readonly SecretKey[]): Account {
  const hasKept = account.secretKeys.some(({ id }) => secretKeys.some((key) => key.id === id))
  return nextRevision(account, { secretKeys, ...(!hasKept && nextSessionEpoch(account)) })
}

/** @returns undefined if the account's key is not the one to replace */
export function withApiKey(account: Account, { apiKey, replaces }: ApiKeyReset): Account | undefined {
  return isExpectedKey(account.apiKey, replaces) ? nextRevision(account, { apiKey }) : undefined
}

/** Replaces sealed secrets: see KeyStore.resealAccount. undefined where the account has none of them. */
export function withResealed(account: Account, reseals: readonly Reseal[]): Account | undefined {
  const afterOf = (sealed: Uint8Array | undefined) =>
    sealed && reseals.find(({ before }) => isSameBytes(before, sealed))?.after
  let isChanged = false

  function resealed<Key extends StoredKey>(key: Key): Key {
    const sealed = afterOf(key.sealed)
    if (!sealed) return key
    isChanged = true
    return { ...key, sealed }
  }

  const apiKey = resealed(account.apiKey)
  const secretKeys = account.secretKeys.map(resealed)
  const factor = account.portal.secondFactor
  const sealed = factor?.sealed === undefined ? undefined : afterOf(Buffer.from(factor.sealed, 'base64url'))
  if (!sealed && !isChanged) return undefined
  const secondFactor = factor && sealed ? { ...factor, sealed: base64url(sealed) } : factor
  return nextRevision(account, { apiKey, secretKeys, portal: { ...account.portal, secondFactor } })
}

/** Whether a key is the one to be replaced; `replaces` undefined = any is. */
function isExpectedKey(
  key: Pick<StoredKey, 'digest'> | undefined,
  replaces: Uint8Array | undefined,
): boolean {
  return replaces === undefined || isSameBytes(key?.digest, replaces)
}
