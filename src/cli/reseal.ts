import { purposeOf } from '#accounts/keys/make-key.ts'
import { secondFactorPurpose } from '#identity/second-factor/second-factors.ts'
import { signingKeyPurpose } from '#identity/tokens/signing-keys.ts'
import { isRecoveryDigestOf } from '#platform/secrets/one-time-codes.ts'
import { isOfCurrentKey } from '#platform/secrets/passwords.ts'
import { createSealer, deriveKeys, type Keys } from '#platform/secrets/sealing.ts'
import { type Account, type AccountStore, readAllAccounts } from '#store/accounts.ts'
import type { KeyStore } from '#store/keys.ts'
import type { Reseal } from '#store/secret-keys.ts'
import type { SigningKeyStore } from '#store/signing-keys.ts'

/** What was resealed, and what still needs a previous key. */
export interface ResealReport {
  /** Accounts of which something was resealed. */
  readonly accounts: number
  readonly signingKeys: number
  /** Accounts and signing keys with a sealed secret that none of the keys opens. */
  readonly unreadable: number
  /** Accounts whose password can be verified only with a previous key, until it is next used or set. */
  readonly passwords: number
  /** Accounts whose recovery codes need a previous key, until they are replaced. */
  readonly recoveryCodes: number
}

interface ResealOptions {
  readonly store: Pick<AccountStore, 'listAccounts'> &
    Pick<KeyStore, 'resealAccount'> &
    Pick<SigningKeyStore, 'listSigningKeys' | 'resealSigningKey'>
  /** The first seals; what the others have sealed is resealed. */
  readonly keys: Keys
  /** Called after each batch. @param accounts how many have been looked at */
  onProgress(accounts: number): void
}

/** How many accounts are read at once, and changed at the same time. */
const batchSize = 100

/**
 * Seals everything in the store with the first key. What it has sealed already is skipped, and each account changes in
 * one step: so it may be ended at any moment and run again, beside gateways that accept all of the keys.
 */
export async function reseal({ store, keys, onProgress }: ResealOptions): Promise<ResealReport> {
  const resealSecret = createResealer(keys)
  const dependence = createDependence(keys)
  const count = { accounts: 0, signingKeys: 0, unreadable: 0, passwords: 0, recoveryCodes: 0 }

  for (const { kid, sealed } of await store.listSigningKeys()) {
    const outcome = resealSecret(sealed, signingKeyPurpose(kid))
    if (outcome === 'unreadable') count.unreadable++
    else if (outcome !== 'current' && (await store.resealSigningKey(kid, outcome))) count.signingKeys++
  }

  async function resealAccount(account: Account): Promise<void> {
    const outcomes = sealedSecretsOf(account).map(({ sealed, purpose }) => resealSecret(sealed, purpose))
    if (outcomes.includes('unreadable')) count.unreadable++
    if (dependence.password(account)) count.passwords++
    if (dependence.recoveryCodes(account)) count.recoveryCodes++
    const reseals = outcomes.filter((outcome) => typeof outcome === 'object')
    if (reseals.length > 0 && (await store.resealAccount(account.id, reseals))) count.accounts++
  }

  let seen = 0
  for await (const batch of readAllAccounts(store, batchSize)) {
    await Promise.all(batch.map(resealAccount))
    seen += batch.length
    onProgress(seen)
  }
  return count
}

function createResealer(keys: Keys) {
  const [current] = keys
  const sealer = createSealer(() => keys)
  const currentSealer = createSealer(current)
  return (sealed: Uint8Array, purpose: string): Reseal | 'current' | 'unreadable' => {
    if (currentSealer.unseal(sealed, purpose) !== undefined) return 'current'
    const secret = sealer.unseal(sealed, purpose)
    return secret === undefined ? 'unreadable' : { before: sealed, after: sealer.seal(secret, purpose) }
  }
}

/** Every sealed secret of an account, and what it was sealed for. */
export function sealedSecretsOf(account: Account): readonly { sealed: Uint8Array; purpose: string }[] {
  const { id, apiKey, secretKeys, portal } = account
  const found: { sealed: Uint8Array; purpose: string }[] = []
  if (apiKey.sealed) found.push({ sealed: apiKey.sealed, purpose: purposeOf('apiKey', id) })
  for (const { sealed } of secretKeys) if (sealed) found.push({ sealed, purpose: purposeOf('secretKey', id) })
  const app = portal.secondFactor?.sealed
  if (app !== undefined)
    found.push({ sealed: Buffer.from(app, 'base64url'), purpose: secondFactorPurpose(account) })
  return found
}

/**
 * What of an account still needs a previous key: digests cannot be resealed, and are only made again when their owner
 * enters the password, or gets new recovery codes.
 */
function createDependence(keys: Keys) {
  const passwordKeys = deriveKeys(() => keys, 'password')()
  const [recoveryKey] = deriveKeys(() => keys, 'second factor')()
  return {
    password: ({ portal: { password } }: Account) =>
      password !== undefined && !isOfCurrentKey(password, passwordKeys),
    recoveryCodes: ({ portal: { secondFactor } }: Account) =>
      keys.length > 1 &&
      secondFactor?.recoveryDigests.some((digest) => !isRecoveryDigestOf(recoveryKey, digest)) === true,
  }
}
