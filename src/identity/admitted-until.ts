import { findCompactKey } from '#platform/secrets/keys.ts'
import type { EpochMs } from '#platform/time.ts'
import { keyOfSession, keyState, validUntil } from '#store/secret-keys.ts'
import { portalEpochIn } from '#store/sessions.ts'
import type { Access } from './access.ts'
import { authorize, authorizeFrom } from './authorize.ts'
import type { Principal } from './decision.ts'
import type { CachedKey, Directory } from './directory.ts'
import type { Keyring } from './tokens/keyring.ts'

/** A caller who was admitted for longer than one request, with the credential. */
export interface AdmittedCaller {
  readonly principal: Principal
  readonly access: Access
  /** Of the client, when it was admitted. */
  readonly address: string
  /** Digest of the secret key; undefined for a bearer token. */
  readonly keyDigest: Uint8Array | undefined
  /** ID of the key that signed the bearer token; undefined for a secret key. */
  readonly signedBy: string | undefined
  /** Role epoch in the bearer token; undefined for a secret key. */
  readonly roleEpoch: number | undefined
}

/** What admittedUntil depends on. */
export interface AuthState {
  readonly directory: Directory
  readonly keyring: Pick<Keyring, 'find'>
  /** Whether tokens of a foreign issuer are still accepted. */
  hasIssuer(name: string): boolean
}

/**
 * Checks whether an admitted caller would still be admitted: the account and role are the same, the key or session is
 * still valid, the key still has the scopes and is accepted from the address, and the token's signing key has not been
 * retired; a principal of a foreign issuer is not blocked. Neither the expiry of the access token nor that of its
 * session matters: what was opened in time may stay open.
 * @returns when the secret key expires, Infinity = never; 0 = the caller would not be admitted any more
 * @throws GatehouseError `store-unavailable` if it cannot be decided now
 */
export async function admittedUntil(
  { principal, access, address, keyDigest, signedBy, roleEpoch }: AdmittedCaller,
  { directory, keyring, hasIssuer }: AuthState,
  time: EpochMs,
): Promise<EpochMs> {
  const { accountId, role, sessionId, issuer } = principal
  if (issuer !== undefined) {
    const isAdmitted = hasIssuer(issuer) && !(await directory.subject(accountId)).isBlocked
    return isAdmitted ? Number.POSITIVE_INFINITY : 0
  }
  if (signedBy !== undefined && !keyring.find(signedBy)) return 0
  const account = await directory.account(accountId)
  if (!account || account.isDisabled || account.role !== role) return 0
  // The role may have changed and been changed back.
  if (roleEpoch !== undefined && roleEpoch < account.roleEpoch) return 0
  if (keyDigest !== undefined)
    return endWithinLimits(findCompactKey(account.keys, keyDigest), { access, address }, time)
  if (authorize(access, { ...principal, profile: account.profile }) !== undefined) return 0
  const session = sessionId === undefined ? undefined : await directory.session(sessionId)
  const isOpen = session !== undefined && !session.isEnded && session.sessionEpoch === account.sessionEpoch
  if (!isOpen) return 0
  const portalEpoch = portalEpochIn(session.keyId)
  if (portalEpoch !== undefined) {
    const isAdmitted = portalEpoch === account.portalEpoch && !directory.needsEnrolment(account)
    return isAdmitted ? Number.POSITIVE_INFINITY : 0
  }
  return endOfKey(keyOfSession(account.keys, session.keyId), time)
}

/**
 * When the key expires; 0 = it is no longer valid, has been limited to other scopes or addresses, or its account is no
 * longer verified although the route demands that.
 */
function endWithinLimits(
  key: CachedKey | undefined,
  { access, address }: Pick<AdmittedCaller, 'access' | 'address'>,
  time: EpochMs,
): EpochMs {
  const end = endOfKey(key, time)
  if (!key || end === 0) return 0
  return authorizeFrom(address, access, key.principal) === undefined ? end : 0
}

function endOfKey(key: CachedKey | undefined, time: EpochMs): EpochMs {
  return key && keyState(key, time) === 'valid' ? validUntil(key) : 0
}
