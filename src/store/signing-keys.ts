import type { AuditEntry } from './audit-entry.ts'
import type { Reseal } from './secret-keys.ts'

/** The keys that sign access tokens. */
export interface SigningKeyStore {
  /** Oldest first, and of one moment by their IDs. */
  listSigningKeys(): Promise<readonly StoredSigningKey[]>
  /** @param unless `signer` = only where there is no key of its algorithm that signs or will sign */
  addSigningKey(key: StoredSigningKey, unless?: 'signer', audit?: AuditEntry): Promise<boolean>
  /** Puts the key, sealed again, in the place of itself as it was; false where that is not stored any more. */
  resealSigningKey(kid: string, reseal: Reseal, audit?: AuditEntry): Promise<boolean>
  /** Removes a key; false where there is none. */
  retireSigningKey(kid: string, audit?: AuditEntry): Promise<boolean>
}

export interface StoredSigningKey {
  readonly kid: string
  readonly algorithm: string
  /** The private half, or the secret of HS256, sealed. */
  readonly sealed: Uint8Array
  /** PEM; undefined for HS256. */
  readonly publicKey: string | undefined
  readonly createdAt: number
  /** From when it signs; until then it is only published in the JWKS. */
  readonly signsFrom: number
}
