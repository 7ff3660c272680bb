import type { Clock } from '../platform/clock.ts'
import { findKey, type ParsedKey, parseKey } from '../secrets/keys.ts'
import { keyState, validUntil } from '../store/secret-keys.ts'
import type { CachedAccount, Directory } from './principal.ts'
import { createRecentKeys } from './recent-keys.ts'
import { type Authentication, rejected, type Scheme } from './scheme.ts'

const invalid = rejected('secret-key-invalid')
const malformed = rejected('secret-key-invalid', { isMalformed: true, holdsUntil: Number.POSITIVE_INFINITY })
const expired = rejected('secret-key-expired')
const disabled = rejected('account-disabled')

/**
 * `SecretKey: gsk_…`: a key is valid until it expires or is revoked, and then for the overlap that was asked for. It is
 * rejected only after the cache was brought up to date: the account may have got this very key since.
 */
export function createSecretKeyScheme(directory: Directory, clock: Clock): Scheme {
  const { confirm, revokedKeys } = directory
  const recent = createRecentKeys(directory, clock)

  function decideKey({ digest }: ParsedKey, account: CachedAccount | undefined): Authentication {
    const key = account && findKey(account.keys, digest)
    const state = key ? keyState(key, clock()) : 'revoked'
    if (!key || state === 'revoked') return invalid
    if (state === 'expired') return expired
    if (account.isDisabled) return disabled
    return { kind: 'authenticated', principal: key.principal, holdsUntil: validUntil(key) }
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
        // Whether a key is wrong is not known now; but a valid key of a disabled account is rejected.
        if (verdict === disabled) return verdict
        throw outOfReach
      },
    )
  }

  /** Whether no change can have made the key valid since: an old key never becomes valid again. */
  function isFinal({ digest }: ParsedKey, account: CachedAccount | undefined): boolean {
    const key = account && findKey(account.keys, digest)
    return revokedKeys.has(digest) || (key !== undefined && keyState(key, clock()) !== 'valid')
  }

  /**
   * A key of no account is rejected whatever has changed: a deleted account is never restored. But it waits as long as
   * a wrong key of an account, and is cached like one: timing must not reveal which account IDs exist.
   */
  async function rejectInEqualTime({ digest }: ParsedKey): Promise<Authentication> {
    const isRemembered = await confirm().then(
      () => true,
      () => false,
    )
    if (isRemembered) revokedKeys.add(digest)
    return invalid
  }

  async function decideAfterConfirm(key: ParsedKey): Promise<Authentication> {
    const verdict = decideKey(key, await directory.account(key.accountId))
    if (verdict === invalid) revokedKeys.add(key.digest)
    return verdict
  }

  function authenticateUncached(credential: string): Authentication | Promise<Authentication> {
    const key = parseKey('secretKey', credential)
    if (!key) return malformed
    const account = directory.account(key.accountId)
    if (account instanceof Promise) return account.then((found) => decideOrConfirm(key, found))
    const decision = decideOrConfirm(key, account)
    const isLasting = !(decision instanceof Promise) && decision.holdsUntil > 0
    if (isLasting && decision.kind === 'authenticated') recent.set(credential, decision)
    return decision
  }

  return {
    name: 'secretKey',
    authenticate: (credential) => recent.get(credential) ?? authenticateUncached(credential),
  }
}
