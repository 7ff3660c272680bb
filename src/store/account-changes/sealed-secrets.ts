import type { Account } from '../account.ts'
import type { Reseal, StoredKey } from '../stored-key.ts'
import { nextRevision } from './account-changes.ts'

/** Replaces sealed secrets: see KeyStore.resealAccount. undefined where the account has none of them. */
export function withResealed(account: Account, reseals: readonly Reseal[]): Account | undefined {
  const afterOf = (sealed: Uint8Array | undefined) =>
    sealed && reseals.find(({ before }) => Buffer.compare(before, sealed) === 0)?.after
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
  const sealed = factor && afterOf(Buffer.from(factor.sealed, 'base64url'))
  if (!sealed && !isChanged) return undefined
  const secondFactor = sealed ? { ...factor, sealed: Buffer.from(sealed).toString('base64url') } : factor
  return nextRevision(account, { apiKey, secretKeys, portal: { ...account.portal, secondFactor } })
}
