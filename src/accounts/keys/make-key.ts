import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { randomText } from '#platform/secrets/key-format.ts'
import { createKey, digestOf, type KeyKind } from '#platform/secrets/keys.ts'
import type { Sealer } from '#platform/secrets/sealing.ts'
import type { Clock, EpochMs } from '#platform/time.ts'
import type { Account } from '#store/accounts.ts'
import type { AuditEntry } from '#store/audit-entry.ts'
import type { ImportedKey, KeyStore, SecretKeyAdded } from '#store/keys.ts'
import {
  defaultKeyName,
  defaultKeyOf,
  type SecretKey,
  type StoredKey,
  unlimited,
} from '#store/secret-keys.ts'
import { isStoreFailure } from '#store/store-health.ts'
import type { AuditEntryFactory } from '../audit-log.ts'
import { keyDetails, type SecretKeyInput } from './input.ts'

export interface KeyOptions {
  readonly sealer: Sealer
  /** Whether keys can be shown again: whether sealed copies of new keys are kept, and existing copies opened. */
  readonly reveal: boolean
  /** How new keys begin. */
  readonly prefix: string
  readonly clock: Clock
}

/** A new key, and what is stored of it. */
export function makeKey(
  kind: KeyKind,
  accountId: string,
  { sealer, reveal, prefix, clock }: KeyOptions,
): { readonly key: string; readonly stored: StoredKey } {
  const key = createKey(kind, accountId, prefix)
  const sealed = reveal ? sealer.seal(key, purposeOf(kind, accountId)) : undefined
  return { key, stored: { digest: digestOf(key), sealed, createdAt: clock(), lastFour: key.slice(-4) } }
}

/** Enough for the keys of one account, over all time. */
const keyIdLength = 8

/** The ID by which sessions name their secret key. */
export function createKeyId(): string {
  return randomText(keyIdLength)
}

/** A new secret key, and what is stored of it. A quota that has an ID keeps it: what was spent of it still counts. */
export function makeSecretKey(
  accountId: string,
  { name, scopes, addresses, quota, expiresAt }: SecretKeyInput,
  options: KeyOptions,
): { readonly key: string; readonly stored: SecretKey } {
  const { key, stored } = makeKey('secretKey', accountId, options)
  const id = createKeyId()
  const limits = { scopes, addresses, expiresAt, revokedAt: undefined, isImported: false }
  const counted = quota && { quota: { id, ...quota } }
  return { key, stored: { ...stored, id, name, ...limits, ...counted } }
}

/** What is stored of a key that was made elsewhere. @param digest SHA-256 of the key, or of a certificate in DER */
export function makeImportedKey(
  { digest, input }: { readonly digest: Uint8Array; readonly input: SecretKeyInput },
  id: string,
  createdAt: EpochMs,
): ImportedKey {
  const { quota } = input
  const stored = { ...input, quota: quota && { id, ...quota }, id, digest, createdAt }
  return { ...stored, sealed: undefined, revokedAt: undefined, isImported: true }
}

/** A new default key, which is not limited. */
export function makeDefaultKey(accountId: string, options: KeyOptions): ReturnType<typeof makeSecretKey> {
  const input = { name: defaultKeyName, scopes: unlimited, addresses: unlimited, expiresAt: undefined }
  return makeSecretKey(accountId, input, options)
}

/**
 * The API key or the default secret key, from its sealed copy; undefined if no copy is kept, if the current sealing key
 * cannot decrypt it, or if the key was revoked.
 */
export function unsealKey(kind: KeyKind, account: Account, sealer: Sealer): string | undefined {
  const sealed = kind === 'apiKey' ? account.apiKey.sealed : defaultKeyOf(account)?.sealed
  return sealed && sealer.unseal(sealed, purposeOf(kind, account.id))
}

/** What a key of an account is sealed for. */
export function purposeOf(kind: KeyKind, accountId: string): string {
  return `${kind}:${accountId}`
}

/**
 * Stores a further key of an account, and records it in the audit log.
 * @param made `key`: the new one, which nobody has yet; undefined = it was made elsewhere. `details`: what the audit
 *   entry has besides the limits of the key
 * @throws UnconfirmedKeys
 */
export function addSecretKey(
  { store, entry, keysMax }: AddSecretKeyOptions,
  account: Account,
  made: {
    readonly key?: string | undefined
    readonly stored: SecretKey
    readonly details?: AuditEntry['details'] | undefined
  },
): Promise<SecretKeyAdded> {
  const { key, stored: secretKey, details } = made
  const auditEntry = entry('secret-key-created', account, { ...keyDetails(secretKey), ...details })
  const adding = store.addSecretKey(account.id, { secretKey, keysMax }, auditEntry)
  return key === undefined ? adding : withUnconfirmedKeys(key, adding)
}

export interface AddSecretKeyOptions {
  readonly store: Pick<KeyStore, 'addSecretKey'>
  readonly entry: AuditEntryFactory
  /** How many secret keys an account may have, the default one included. */
  readonly keysMax: number
}

/**
 * `store-unavailable` for a write that may or may not have succeeded: it holds the new keys, which are stored nowhere
 * else. They are shown only to an operator.
 */
export class UnconfirmedKeys extends GatehouseError {
  /** What the function would have returned. */
  readonly result: unknown

  constructor(result: unknown, { cause }: Error) {
    super('store-unavailable', { cause })
    this.result = result
  }
}

/** Adds the new keys to the error of a write that may have succeeded. @throws UnconfirmedKeys */
export function withUnconfirmedKeys<Result>(result: unknown, write: Promise<Result>): Promise<Result> {
  return write.catch((error: unknown) => {
    throw isStoreFailure(error, 'unconfirmed') ? new UnconfirmedKeys(result, error) : error
  })
}
