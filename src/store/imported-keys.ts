import type { Account } from './account.ts'
import { withNewSecretKey } from './account-changes/key-changes.ts'
import { digestText } from './keys.ts'
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
  importSecretKeys(imports: readonly KeyImport[]): Promise<readonly KeyImported[]>
  /** The account of an imported key; only the account shows whether it still has the key, and whether it is valid. */
  findImportedKey(digest: Uint8Array): Promise<string | undefined>
  /** Whether there is any imported key. */
  hasImportedKeys(): Promise<boolean>
}

/** How many keys one call may add: other processes cannot write to SQLite for about 100 ms during it. */
export const importBatchMax = 1_000

export interface KeyImport {
  readonly accountId: string
  readonly secretKey: SecretKey & { readonly isImported: true }
  /** How many keys the account may have including this one; those within an overlap do not count. */
  readonly keysMax: number
}

/**
 * `present`: the account had it already. `taken`: another account has it. `exists`: the account has another key of that
 * name. `unknown`: there is no such account.
 */
export type KeyImported = 'added' | 'present' | 'taken' | 'exists' | 'too-many' | 'unknown'

/** @returns the account with the key, or why not */
export function withImportedKey(
  account: Account,
  { secretKey, keysMax }: KeyImport,
): Account | Exclude<KeyImported, 'added' | 'taken' | 'unknown'> {
  const digest = digestText(secretKey)
  if (importedDigests(account).includes(digest)) return 'present'
  return withNewSecretKey(account, { secretKey, keysMax })
}

/** What a change of an account means for the index: digests as base64url. */
export function indexChange(before: Pick<Account, 'secretKeys'>, after: Pick<Account, 'secretKeys'>) {
  const [old, next] = [importedDigests(before), importedDigests(after)]
  return {
    added: next.filter((digest) => !old.includes(digest)),
    removed: old.filter((digest) => !next.includes(digest)),
  }
}

/** As base64url. */
export function importedDigests({ secretKeys }: Pick<Account, 'secretKeys'>): readonly string[] {
  return secretKeys.filter(({ isImported }) => isImported).map(digestText)
}
