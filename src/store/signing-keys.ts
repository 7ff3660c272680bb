import type { AuditEntry } from './audit-entry.ts'
import type { Reseal } from './secret-keys.ts'

/** The keys that sign access tokens. */
export interface SigningKeyStore {
  /** Oldest first, and those of the same time by ID. */
  listSigningKeys(): Promise<readonly StoredSigningKey[]>
  /** @param unless `signer` = only if there is no key of its algorithm that signs or will sign */
  addSigningKey(key: StoredSigningKey, unless?: 'signer', audit?: AuditEntry): Promise<boolean>
  /** Replaces the sealed key by the same key sealed again; false if it is no longer stored in the earlier form. */
  resealSigningKey(kid: string, reseal: Reseal, audit?: AuditEntry): Promise<boolean>
  /** Removes a key; false if there is none. */
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
  /** When it begins to sign; until then it is only published in the JWKS. */
  readonly signsFrom: number
}
