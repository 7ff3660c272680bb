import { base64url } from '#platform/text.ts'
import { defaultKeyName, type SecretKey, type StoredKey, unlimited } from './secret-keys.ts'

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
