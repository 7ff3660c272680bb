import type { EpochMs } from '#platform/time.ts'
import type { AuditEntry } from './audit-entry.ts'
import type { Reseal } from './secret-keys.ts'

export interface SigningKeyStore {
  /** Oldest first, and those of the same time by ID. */
  listSigningKeys(): Promise<readonly StoredSigningKey[]>
  /** @returns false if it was not added, because of `onlyIfNoSigner` */
  addSigningKey(key: StoredSigningKey, options?: SigningKeyAddition): Promise<boolean>
  /** Replaces the sealed key by the same key sealed again; false if it is no longer stored in the earlier form. */
  resealSigningKey(kid: string, reseal: Reseal, audit?: AuditEntry): Promise<boolean>
  /** Removes a key; false if there is none. */
  retireSigningKey(kid: string, audit?: AuditEntry): Promise<boolean>
}

interface SigningKeyAddition {
  /** Whether the key is added only if no other of its algorithm signs or will sign. */
  readonly onlyIfNoSigner?: boolean
  readonly audit?: AuditEntry | undefined
}

export interface StoredSigningKey {
  readonly kid: string
  readonly algorithm: string
  /** The private half, or the secret of HS256, sealed. */
  readonly sealed: Uint8Array
  /** PEM; undefined for HS256. */
  readonly publicKey: string | undefined
  readonly createdAt: EpochMs
  /** When it begins to sign; until then it is only published in the JWKS. */
  readonly signsFrom: EpochMs
}
