import type { ErrorCode } from '../errors/codes.ts'
import { GatehouseError } from '../errors/gatehouse-error.ts'
import type { Access } from '../routes/route.ts'
import { isSecretKeyOf } from '../secrets/keys.ts'
import type { Keyring } from '../tokens/keyring.ts'
import type { Directory, Principal } from './principal.ts'

/**
 * Why an authenticated caller is rejected; undefined = authorised.
 * @throws GatehouseError `store-unavailable` where the profile is needed and not known now
 */
export function authorize(access: Access, principal: Principal | undefined): ErrorCode | undefined {
  if (access.kind === 'public' || principal === undefined) return undefined
  if (access.roles && !access.roles.has(principal.role)) return 'role-forbidden'
  if (!access.verifiedOnly) return undefined
  if (!principal.profile) throw new GatehouseError('store-unavailable')
  return principal.profile.isVerified ? undefined : 'account-unverified'
}

/** A caller admitted for longer than one request, and the credential. */
export interface AdmittedCaller {
  readonly principal: Principal
  readonly access: Access
  /** Digest of the secret key; undefined for a bearer token. */
  readonly keyDigest: Uint8Array | undefined
  /** ID of the key that signed the bearer token; undefined for a secret key. */
  readonly signedBy: string | undefined
  /** Epoch of the role that the bearer token carries; undefined for a secret key. */
  readonly roleEpoch: number | undefined
}

/** What the check depends on. */
export interface AuthState {
  readonly directory: Directory
  readonly keyring: Pick<Keyring, 'find'>
}

/**
 * Whether an admitted caller still would be: the account and role are the same, the key or session is still valid, and
 * the token's signing key has not been retired. That an access token has expired meanwhile does not matter.
 * @throws GatehouseError `store-unavailable` where it cannot be decided now
 */
export async function isStillValid(
  { principal, access, keyDigest, signedBy, roleEpoch }: AdmittedCaller,
  { directory, keyring }: AuthState,
  now: number,
): Promise<boolean> {
  const { accountId, role, sessionId } = principal
  if (signedBy !== undefined && !keyring.find(signedBy)) return false
  const account = await directory.account(accountId)
  if (!account || account.isDisabled || account.principal.role !== role) return false
  // The role may have changed and changed back since.
  if (roleEpoch !== undefined && roleEpoch < account.roleEpoch) return false
  if (authorize(access, account.principal) !== undefined) return false
  if (keyDigest !== undefined) return isSecretKeyOf(account, keyDigest, now)
  const session = sessionId === undefined ? undefined : await directory.session(sessionId)
  return session !== undefined && !session.isEnded && session.sessionEpoch === account.sessionEpoch
}
