import { isSecretKeyOf } from '../accounts/match-key.ts'
import type { Access } from '../routes/route.ts'
import { authorize } from './authorize.ts'
import type { Directory, Principal } from './principal.ts'

/** Who was let in for longer than one request, and by what. */
export interface Admission {
  readonly principal: Principal
  readonly access: Access
  /** Digest of the secret key; undefined for a bearer token. */
  readonly keyDigest: Uint8Array | undefined
}

/**
 * Whether somebody who was let in would be let in again: same account and role, and the key or session goes
 * on. That an access token has expired meanwhile does not matter.
 * @throws GatehouseError `store-unavailable` where that cannot be told now
 */
export async function isStillValid(
  { principal, access, keyDigest }: Admission,
  directory: Directory,
  now: number,
): Promise<boolean> {
  const { accountId, role, sessionId } = principal
  const account = await directory.account(accountId)
  if (!account || account.isDisabled || account.principal.role !== role) return false
  if (authorize(access, account.principal) !== undefined) return false
  if (keyDigest !== undefined) return isSecretKeyOf(account, keyDigest, now)
  const session = sessionId === undefined ? undefined : await directory.session(sessionId)
  return session !== undefined && !session.isEnded && session.sessionEpoch === account.sessionEpoch
}
