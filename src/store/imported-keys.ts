import { listChange } from '#platform/text.ts'
import type { Account } from './accounts.ts'
import { digestText, type SecretKeyAdded, type SecretKeyAddition } from './keys.ts'
import type { SecretKey } from './secret-keys.ts'

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
  /** Whether there is any imported key. */
  hasImportedKeys(): Promise<boolean>
}

/** How many keys one call may add: other processes cannot write to SQLite for about 100 ms during it. */
export const importBatchMax = 1_000

export type ImportedKey = SecretKey & { readonly isImported: true }

export interface KeyImport extends SecretKeyAddition {
  readonly accountId: string
  readonly secretKey: ImportedKey
}

/** What a change of an account means for the index: digests as base64url. */
export function indexChange(before: Pick<Account, 'secretKeys'>, after: Pick<Account, 'secretKeys'>) {
  return listChange(importedDigests(before), importedDigests(after))
}

/** As base64url. */
export function importedDigests({ secretKeys }: Pick<Account, 'secretKeys'>): readonly string[] {
  return secretKeys.filter(({ isImported }) => isImported).map(digestText)
}
