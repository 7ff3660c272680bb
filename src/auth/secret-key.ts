import type { Clock } from '../platform/clock.ts'
import { isSecretKeyOf, type ParsedKey, parseKey } from '../secrets/keys.ts'
import type { CachedAccount, Directory } from './principal.ts'
import { createRecentKeys } from './recent-keys.ts'
import { type Authentication, rejected, type Scheme } from './scheme.ts'

const invalid = rejected('secret-key-invalid')
const malformed = rejected('secret-key-invalid', { isMalformed: true, holdsUntil: Number.POSITIVE_INFINITY })
const disabled = rejected('account-disabled')

/**
 * `SecretKey: gsk_…`: a key is valid until it is reset, and then for the grace period of the reset. It is rejected only
 * after the cache was brought up to date: the account may have got this very key since.
 */
export function createSecretKeyScheme(directory: Directory, clock: Clock): Scheme {
  const { confirm, revokedKeys } = directory
  const recent = createRecentKeys(directory)

  function decideKey({ digest }: ParsedKey, account: CachedAccount | undefined): Authentication {
    if (!account || !isSecretKeyOf(account, digest, clock())) return invalid
    if (account.isDisabled) return disabled
    // During an overlap the key may be valid only for a while.
    const holdsUntil = account.previousSecretKey === undefined ? Number.POSITIVE_INFINITY : 0
    return { kind: 'authenticated', principal: account.principal, holdsUntil }
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
    return (
      revokedKeys.has(digest) || (account !== undefined && isExpiredPreviousKey(account, digest, clock()))
    )
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

/** Whether it is the previous key, after its grace period. */
function isExpiredPreviousKey(
  { previousSecretKey }: CachedAccount,
  digest: Uint8Array,
  now: number,
): boolean {
  if (!previousSecretKey || now < previousSecretKey.validUntil) return false
  return Buffer.compare(previousSecretKey.digest, digest) === 0
}
