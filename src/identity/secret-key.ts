import type { ErrorCode } from '#platform/errors/codes.ts'
import { throwUnlessStoreUnavailable } from '#platform/errors/gatehouse-error.ts'
import { isForeignKey } from '#platform/secrets/key-format.ts'
import { digestOf, findCompactKey, type ParsedKey, parseKey } from '#platform/secrets/keys.ts'
import type { Clock } from '#platform/time.ts'
import { keyState, validUntil } from '#store/secret-keys.ts'
import { type Authentication, refusedCredential, type Scheme } from './decision.ts'
import type { CachedAccount, Directory } from './directory.ts'
import type { ImportedKeys } from './imported-keys.ts'

const invalid = refusedCredential('secret-key-invalid')
const malformed = refusedCredential('secret-key-invalid', {
  isMalformed: true,
  holdsUntil: Number.POSITIVE_INFINITY,
})

const refuse = (code: ErrorCode, reason: string) => refusedCredential(code, { reason })

/**
 * `SecretKey: gate_sk_…`. A key is valid until it expires or is revoked, and then for the requested overlap. A wrong
 * key is rejected only once the cache is up to date, as the account may have been given this very key since.
 */
export function createSecretKeyScheme(
  directory: Directory,
  clock: Clock,
  importedKeys?: ImportedKeys,
): Scheme {
  const { confirm, revokedKeys } = directory
  /** The last foreign key that `mustLookUp` was asked about, so that it is digested once. */
  let digested: { readonly credential: string; readonly digest: Uint8Array } | undefined

  function decideKey({ digest }: ParsedKey, account: CachedAccount | undefined): Authentication {
    const key = account && findCompactKey(account.keys, digest)
    const state = key ? keyState(key, clock()) : 'revoked'
    if (!key || state === 'revoked') return invalid
    const { principal } = key
    // The line in the log has no account, as there is no caller: whom it concerns would be known to nobody.
    if (state === 'expired')
      return refuse('secret-key-expired', `key "${principal.key}" of account ${principal.accountId}`)
    if (account.isDisabled) return refuse('account-disabled', `account ${principal.accountId}`)
    return { kind: 'authenticated', principal, holdsUntil: validUntil(key) }
  }

  function decideOrConfirm(
    key: ParsedKey,
    account: CachedAccount | undefined,
  ): Authentication | Promise<Authentication> {
    const verdict = decideKey(key, account)
    if (verdict.kind === 'authenticated' || isFinal(key, account)) return verdict
    if (!account) return rejectInEqualTime(key)
    return confirm().then(
      () => decideAfterConfirm(key),
      (outOfReach: unknown) => {
        // It is not known now whether the key is wrong; but even a valid key of a disabled account is rejected.
        if (verdict.code === 'account-disabled') return verdict
        throw outOfReach
      },
    )
  }

  /** Whether the key is known to be invalid for good: one that was revoked or has expired never becomes valid again. */
  function isFinal({ digest }: ParsedKey, account: CachedAccount | undefined): boolean {
    const key = account && findCompactKey(account.keys, digest)
    return revokedKeys.has(digest) || (key !== undefined && keyState(key, clock()) !== 'valid')
  }

  /**
   * A key that names no account is rejected whatever has changed, as a deleted account is never restored. But it waits
   * as long as a wrong key of an account, and is cached like one: timing must not reveal which account IDs exist.
   */
  async function rejectInEqualTime({ digest }: ParsedKey): Promise<Authentication> {
    const isRemembered = await confirm().then(
      () => true,
      (error: unknown) => {
        throwUnlessStoreUnavailable(error)
        return false
      },
    )
    if (isRemembered) revokedKeys.add(digest)
    return invalid
  }

  async function decideAfterConfirm(key: ParsedKey): Promise<Authentication> {
    const verdict = decideKey(key, await directory.account(key.accountId))
    if (verdict === invalid) revokedKeys.add(key.digest)
    return verdict
  }

  function authenticate(credential: string): Authentication | Promise<Authentication> {
    const key = parseKey('secretKey', credential)
    if (key) return authenticateKey(key)
    if (!importedKeys || importedKeys.hasNone() || !isForeignKey(credential)) return malformed
    return authenticateForeign(credential, importedKeys)
  }

  function authenticateKey(key: ParsedKey): Authentication | Promise<Authentication> {
    const account = directory.account(key.accountId)
    return account instanceof Promise
      ? account.then((found) => decideOrConfirm(key, found))
      : decideOrConfirm(key, account)
  }

  /** A key that was made elsewhere is found by its digest, if there are such keys. */
  function authenticateForeign(
    credential: string,
    imported: ImportedKeys,
  ): Authentication | Promise<Authentication> {
    const digest = digested?.credential === credential ? digested.digest : digestOf(credential)
    digested = undefined
    return authenticateImported(digest, imported)
  }

  function authenticateImported(
    digest: Uint8Array,
    imported: ImportedKeys,
  ): Authentication | Promise<Authentication> {
    const accountId = imported.find(digest)
    if (accountId === 'absent') return invalid
    if (accountId === undefined) return lookUpForeign(digest, imported)
    const account = directory.account(accountId)
    if (account instanceof Promise) return decideCached({ accountId, digest }, account, imported)
    const verdict = decideKey({ accountId, digest }, account)
    return verdict === invalid ? decideCached({ accountId, digest }, account, imported) : verdict
  }

  /** If the account does not have the key any more, another one may have it now. */
  async function decideCached(
    key: ParsedKey,
    account: CachedAccount | undefined | Promise<CachedAccount | undefined>,
    imported: ImportedKeys,
  ): Promise<Authentication> {
    const verdict = await decideForeign(key, account, imported)
    if (verdict !== invalid || imported.find(key.digest) === 'absent') return verdict
    const accountId = await imported.lookUp(key.digest)
    if (accountId !== key.accountId) return decideHeld(key.digest, accountId, imported)
    // Otherwise others with this key would look it up as well, and are limited only while it is not known.
    imported.forget(key.digest)
    return verdict
  }

  async function lookUpForeign(digest: Uint8Array, imported: ImportedKeys): Promise<Authentication> {
    if (!(await imported.hasAny())) return malformed
    return decideHeld(digest, await imported.lookUp(digest), imported)
  }

  /** @param accountId what the store says now; undefined = no account has the key */
  async function decideHeld(
    digest: Uint8Array,
    accountId: string | undefined,
    imported: ImportedKeys,
  ): Promise<Authentication> {
    if (accountId === undefined) return invalid
    return decideForeign({ accountId, digest }, directory.account(accountId), imported)
  }

  /** Unlike a key of our own, an imported key that was revoked can be imported again, even for another account. */
  async function decideForeign(
    key: ParsedKey,
    account: CachedAccount | undefined | Promise<CachedAccount | undefined>,
    imported: ImportedKeys,
  ): Promise<Authentication> {
    const verdict = decideKey(key, await account)
    if (verdict !== invalid) return verdict
    await confirm()
    const confirmed = decideKey(key, await directory.account(key.accountId))
    if (confirmed === invalid) imported.forget(key.digest)
    return confirmed
  }

  return {
    ...(importedKeys && {
      mustLookUp: (credential: string) => {
        if (importedKeys.hasNone() || !isForeignKey(credential)) return false
        digested = { credential, digest: digestOf(credential) }
        return importedKeys.find(digested.digest) === undefined
      },
    }),
    authenticate,
    authenticateDigest: (digest) =>
      importedKeys && !importedKeys.hasNone() ? authenticateImported(digest, importedKeys) : invalid,
  }
}
