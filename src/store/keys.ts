import { base64url, listChange } from '#platform/text.ts'
import type { EpochMs } from '#platform/time.ts'
import type { Account, AccountVerb } from './accounts.ts'
import type { HasSecretKeys, Reseal, SecretKey, StoredKey } from './secret-keys.ts'

/** The keys of accounts, and when each was last used. */
export interface KeyStore {
  /**
   * Replaces the key of the same name, or adds one where it was revoked. Without `graceUntil` the old one is revoked
   * now, and its sessions with it. If the new key has the digest of the old one, the key stays, and gets the new limits
   * and the new ID.
   * @returns undefined where there is no such account, or its key is not the one to be replaced
   */
  readonly resetSecretKey: AccountVerb<SecretKeyReset, Account | undefined>
  /** Adds a secret key, unless one that is not revoked has its name, or there are as many as there may be. */
  readonly addSecretKey: AccountVerb<SecretKeyAddition, SecretKeyAdded>
  /**
   * Revokes all secret keys of a name, those within an overlap too: now, and their sessions with them, or from
   * `graceUntil` on.
   * @returns the account as it is now; undefined where there is no such account or key
   */
  readonly revokeSecretKey: AccountVerb<SecretKeyRevocation, Account | undefined>
  /** Gives a secret key another name, also the one within an overlap. */
  readonly renameSecretKey: AccountVerb<SecretKeyRenaming, SecretKeyRenamed>
  readonly resetApiKey: AccountVerb<ApiKeyReset, Account | undefined>
  /**
   * Replaces sealed secrets of an account, of its keys and its second factor, by the same secrets sealed again. Those
   * that have been replaced since are left unchanged.
   * @returns false if nothing was replaced
   */
  readonly resealAccount: AccountVerb<readonly Reseal[]>
  /** Revokes the previous secret key, if it is valid at this time; false if there is none. */
  readonly endOverlap: AccountVerb<EpochMs>
  /**
   * Stores the latest use of each current key of an account; uses of other keys are dropped. On Redis a call is not
   * atomic: it stores some hundreds of uses at a time.
   */
  recordKeyUses(uses: readonly RecordedKeyUse[]): Promise<void>
  /** The latest uses of an account's keys, by digest (base64url). */
  findKeyUses(accountId: string): Promise<ReadonlyMap<string, KeyUse>>
}

export interface ApiKeyReset {
  readonly apiKey: StoredKey
  /** Reset only if this is the digest of the current key; absent = any key. */
  readonly replaces?: Uint8Array
}

export interface SecretKeyReset extends Pick<ApiKeyReset, 'replaces'> {
  /** With `graceUntil` it gets the ID of the old one. */
  readonly secretKey: SecretKey
  /** Until when the old key still works; undefined = it is revoked now. */
  readonly graceUntil: EpochMs | undefined
}

export interface SecretKeyAddition {
  readonly secretKey: SecretKey
  /** How many keys the account may have including this one; those within an overlap do not count. */
  readonly keysMax: number
}

/**
 * `exists`: the account has another key of that name. `unknown`: there is no such account. For a key that was made
 * elsewhere also `present`: the account had it already; `taken`: another account has it.
 */
export type SecretKeyAdded = 'added' | 'present' | 'taken' | 'exists' | 'too-many' | 'unknown'

export interface SecretKeyRenaming {
  readonly name: string
  readonly to: string
}

export type SecretKeyRenamed = 'renamed' | 'exists' | 'unknown'

export interface SecretKeyRevocation {
  readonly name: string
  /** Digest of the only key to revoke; absent = all of the name. */
  readonly only?: Uint8Array
  readonly now: EpochMs
  /** Until when it still works; undefined = it is revoked now. */
  readonly graceUntil: EpochMs | undefined
}

/** When a key was last used, and how. */
export interface KeyUse {
  readonly at: EpochMs
  readonly address: string
  /** `secretKey`: on a request; `accessToken`: with the account's other key, to get an access token. */
  readonly scheme: 'secretKey' | 'accessToken'
}

/** A use of one of an account's keys, to be stored. */
export interface RecordedKeyUse extends KeyUse {
  readonly accountId: string
  /** SHA-256 of the key, base64url: the uses of a key are dropped with the key. */
  readonly digest: string
}

/**
 * Secret keys that were made elsewhere and do not contain the ID of their account, so an index finds it by their
 * digest. The verbs that revoke keys and delete accounts update the index in the same step.
 */
export interface ImportedKeyStore {
  /**
   * Adds keys. Each is added or refused separately; a call is not atomic.
   * @param imports at most `importBatchMax`
   * @returns the outcome of each, in the same order
   */
  importSecretKeys(imports: readonly KeyImport[]): Promise<readonly SecretKeyAdded[]>
  /** The account of an imported key; only the account shows whether it still has the key, and whether it is valid. */
  findImportedKey(digest: Uint8Array): Promise<string | undefined>
  hasImportedKeys(): Promise<boolean>
}

/** How many keys one call may add: other processes cannot write to SQLite for about 100 ms during it. */
export const importBatchMax = 1_000

export type ImportedKey = SecretKey & { readonly isImported: true }

export interface KeyImport extends SecretKeyAddition {
  readonly accountId: string
  readonly secretKey: ImportedKey
}

/** The digest under which a key's uses are stored, base64url. */
export function digestText({ digest }: { readonly digest: Uint8Array }): string {
  return base64url(digest)
}

/** What a change of an account means for the index: digests as base64url. */
export function indexChange(before: HasSecretKeys, after: HasSecretKeys) {
  return listChange(importedDigests(before), importedDigests(after))
}

/** As base64url. */
export function importedDigests({ secretKeys }: HasSecretKeys): readonly string[] {
  return secretKeys.filter(({ isImported }) => isImported).map(digestText)
}
