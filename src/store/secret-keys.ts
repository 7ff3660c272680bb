import { base64url } from '#platform/text.ts'
import type { EpochMs } from '#platform/time.ts'
import type { KeyQuota } from './quotas.ts'

export interface StoredKey {
  /** SHA-256 of the key. */
  readonly digest: Uint8Array
  /** The sealed key, to be shown again; undefined where none is kept. */
  readonly sealed: Uint8Array | undefined
  readonly createdAt: EpochMs
  /** The end of the key, to distinguish it from others; absent = it was made elsewhere, or before this was kept. */
  readonly lastFour?: string | undefined
}

/** A secret key of an account. An account has up to `keys.maxPerAccount`, one of which is called `default`. */
export interface SecretKey extends StoredKey {
  /**
   * Identifies the key that a session was started with. It stays the same when the key is replaced with an overlap, so
   * that its sessions continue; '' = a default key from before accounts had several keys.
   */
  readonly id: string
  /** Unique among the keys of the account that are not revoked. */
  readonly name: string
  /** What it is limited to; empty = it is not limited. */
  readonly scopes: readonly string[]
  /** Addresses and CIDR ranges that it is accepted from; empty = from anywhere. */
  readonly addresses: readonly string[]
  /** undefined = only the plan of its account limits it. */
  readonly quota?: KeyQuota | undefined
  /** undefined = it does not expire. */
  readonly expiresAt: EpochMs | undefined
  /** When it is revoked, at the end of an overlap; undefined = it is not. */
  readonly revokedAt: EpochMs | undefined
  /** Whether it was made elsewhere: in a foreign form, found by its digest. */
  readonly isImported: boolean
}

export interface HasSecretKeys {
  readonly secretKeys: readonly SecretKey[]
}

/** A sealed secret, and the same secret sealed again. */
export interface Reseal {
  readonly before: Uint8Array
  readonly after: Uint8Array
}

/** The name of the key that every new account has, which a reset replaces. */
export const defaultKeyName = 'default'

/** Shared by all keys that are not limited. */
export const unlimited: readonly string[] = Object.freeze([])

/** The part of a key that determines how long it is valid. */
export type KeyValidity = Pick<SecretKey, 'expiresAt' | 'revokedAt'>

export type KeyState = 'valid' | 'expired' | 'revoked'

/** Revocation is checked before anything else. */
export function keyState({ expiresAt, revokedAt }: KeyValidity, now: EpochMs): KeyState {
  if (revokedAt !== undefined && now >= revokedAt) return 'revoked'
  return expiresAt !== undefined && now >= expiresAt ? 'expired' : 'valid'
}

/** When a key ceases to be valid; Infinity = never. */
export function validUntil({ expiresAt, revokedAt }: KeyValidity): number {
  return Math.min(expiresAt ?? Number.POSITIVE_INFINITY, revokedAt ?? Number.POSITIVE_INFINITY)
}

/**
 * The key that sessions with this key ID belong to: during an overlap, the one that is valid for longer.
 * @returns undefined if the account no longer has it
 */
export function keyOfSession<Key extends KeyValidity & { readonly id: string }>(
  keys: readonly Key[],
  id: string,
): Key | undefined {
  let found: Key | undefined
  for (const key of keys) {
    if (key.id === id && (!found || validUntil(key) > validUntil(found))) found = key
  }
  return found
}

/** The key called `default`; undefined = it was revoked. */
export function defaultKeyOf({ secretKeys }: HasSecretKeys): SecretKey | undefined {
  return namedKeyOf({ secretKeys }, defaultKeyName)
}

/** The key with a name, which may have expired; undefined = there is none, or it is revoked or about to be. */
export function namedKeyOf({ secretKeys }: HasSecretKeys, name: string): SecretKey | undefined {
  return secretKeys.find((key) => key.name === name && key.revokedAt === undefined)
}

/** The default key before the last reset, while it still works. */
export function overlappingKeyOf(
  { secretKeys }: HasSecretKeys,
  now: EpochMs,
): (SecretKey & { readonly revokedAt: EpochMs }) | undefined {
  return secretKeys.filter(isRevocationSet).find((key) => key.name === defaultKeyName && now < key.revokedAt)
}

function isRevocationSet(key: SecretKey): key is SecretKey & { readonly revokedAt: EpochMs } {
  return key.revokedAt !== undefined
}

/** What is stored of a key, as plain JSON; bytes are base64url. */
export interface StoredKeyRecord extends Pick<StoredKey, 'createdAt' | 'lastFour'> {
  readonly digest: string
  readonly sealed?: string | undefined
}

/** A secret key as plain JSON, without default values. */
export interface SecretKeyRecord
  extends StoredKeyRecord,
    Partial<Pick<SecretKey, 'id' | 'name' | 'scopes' | 'addresses' | 'quota' | 'expiresAt' | 'revokedAt'>> {
  readonly isImported?: true
}

export function storedKeyRecord({ digest, sealed, createdAt, lastFour }: StoredKey): StoredKeyRecord {
  return { digest: base64url(digest), sealed: sealed && base64url(sealed), createdAt, lastFour }
}

/** @param record from `storedKeyRecord` */
export function parseStoredKeyRecord({ digest, sealed, createdAt, lastFour }: StoredKeyRecord): StoredKey {
  return {
    digest: Buffer.from(digest, 'base64url'),
    sealed: sealed === undefined ? undefined : Buffer.from(sealed, 'base64url'),
    createdAt,
    ...(lastFour !== undefined && { lastFour }),
  }
}

export function secretKeyRecord(key: SecretKey): SecretKeyRecord {
  const { id, name, scopes, addresses, quota, expiresAt, revokedAt, isImported } = key
  return {
    ...(id !== '' && { id }),
    ...(name !== defaultKeyName && { name }),
    ...storedKeyRecord(key),
    ...(scopes.length > 0 && { scopes }),
    ...(addresses.length > 0 && { addresses }),
    quota,
    expiresAt,
    revokedAt,
    ...(isImported && { isImported }),
  }
}

/** @param record from `secretKeyRecord` */
export function parseSecretKeyRecord(record: SecretKeyRecord): SecretKey {
  const { id = '', name = defaultKeyName, quota, expiresAt, revokedAt } = record
  return {
    id,
    name,
    ...parseStoredKeyRecord(record),
    scopes: record.scopes ?? unlimited,
    addresses: record.addresses ?? unlimited,
    ...(quota !== undefined && { quota }),
    expiresAt,
    revokedAt,
    isImported: record.isImported === true,
  }
}
