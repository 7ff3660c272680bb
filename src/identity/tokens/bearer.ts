import { GatehouseError, isStoreUnavailable } from '#platform/errors/gatehouse-error.ts'
import type { Clock, EpochMs } from '#platform/time.ts'
import { keyOfSession, keyState, unlimited, validUntil } from '#store/secret-keys.ts'
import { portalEpochIn } from '#store/sessions.ts'
import {
  type Authentication,
  type Principal,
  refusedCredential,
  refusedToken,
  type Scheme,
} from '../decision.ts'
import type { CachedAccount, CachedKey, CachedSession, Directory } from '../directory.ts'
import type { AccessTokens } from './access-token.ts'
import type { AccessTokenClaims } from './access-token-claims.ts'

const revoked = refusedCredential('token-revoked')

/** `mismatch`: the cached account and the token disagree; either may be stale. */
type AuthenticationOrMismatch = Authentication | 'mismatch'

/** What the store returned, or that it is unreachable. */
type DirectoryAnswer<Value> = Value | undefined | 'out-of-reach'

/**
 * Access tokens of the gateway, by `Authorization: Bearer` (RFC 6750) or `DPoP` (RFC 9449): a token ends with its
 * session and its account, not only at `exp`. It is rejected only once the cache is up to date, as another instance may
 * have issued it since.
 */
export function createBearerScheme(accessTokens: AccessTokens, directory: Directory, clock: Clock): Scheme {
  const { confirm } = directory

  function decideNow(
    claims: AccessTokenClaims,
    account: DirectoryAnswer<CachedAccount>,
    session: DirectoryAnswer<CachedSession>,
  ): AuthenticationOrMismatch {
    return decideClaims({ claims, directory, now: clock() }, account, session)
  }

  function decideByLookUp(
    claims: AccessTokenClaims,
  ): AuthenticationOrMismatch | Promise<AuthenticationOrMismatch> {
    const account = lookUp(directory.account, claims.accountId)
    const session = lookUp(directory.session, claims.sessionId)
    if (!(account instanceof Promise) && !(session instanceof Promise)) {
      return decideNow(claims, account, session)
    }
    return Promise.all([account, session]).then((found) => decideNow(claims, ...found))
  }

  function authenticateClaims(claims: AccessTokenClaims): Authentication | Promise<Authentication> {
    const decision = decideByLookUp(claims)
    return decision instanceof Promise
      ? decision.then((settled) => confirmIfMismatch(claims, settled))
      : confirmIfMismatch(claims, decision)
  }

  function confirmIfMismatch(
    claims: AccessTokenClaims,
    decision: AuthenticationOrMismatch,
  ): Authentication | Promise<Authentication> {
    return decision === 'mismatch' ? confirmAndDecide(claims) : decision
  }

  function confirmAndDecide(claims: AccessTokenClaims): Promise<Authentication> {
    return confirm().then(
      () => decideAfterConfirm(claims),
      (outOfReach: unknown) => {
        if (directory.isAccountNewerThan(claims.accountId, claims.issuedAt)) return revoked
        throw outOfReach
      },
    )
  }

  async function decideAfterConfirm(claims: AccessTokenClaims): Promise<Authentication> {
    const decision = await decideByLookUp(claims)
    return decision === 'mismatch' ? revoked : decision
  }

  async function verifyAfterConfirm(credential: string): Promise<Authentication> {
    await confirm()
    const verdict = accessTokens.verify(credential)
    return verdict.kind === 'valid' ? decideAfterConfirm(verdict.claims) : refusedToken(verdict)
  }

  return {
    authenticate: (credential) => {
      const verdict = accessTokens.verify(credential)
      if (verdict.kind === 'valid') return authenticateClaims(verdict.claims)
      const mayBeRight =
        verdict.kind === 'invalid' && !verdict.isCacheable && accessTokens.mayHaveNewKey(credential)
      return mayBeRight ? verifyAfterConfirm(credential) : refusedToken(verdict)
    },
  }
}

/** A look-up that returns `out-of-reach` instead of throwing or rejecting. */
function lookUp<Value>(
  ask: (id: string) => Value | undefined | Promise<Value | undefined>,
  id: string,
): DirectoryAnswer<Value> | Promise<DirectoryAnswer<Value>> {
  try {
    const answer = ask(id)
    return answer instanceof Promise ? answer.catch(orOutOfReach) : answer
  } catch (error) {
    return orOutOfReach(error)
  }
}

function orOutOfReach(error: unknown): 'out-of-reach' {
  if (isStoreUnavailable(error)) return 'out-of-reach'
  throw error
}

/** What the decision about a token depends on. */
interface TokenFacts {
  readonly claims: AccessTokenClaims
  readonly directory: Directory
  readonly now: EpochMs
}

function decideClaims(
  facts: TokenFacts,
  account: DirectoryAnswer<CachedAccount>,
  session: DirectoryAnswer<CachedSession>,
): AuthenticationOrMismatch {
  const { claims, directory } = facts
  const { accountId, roleEpoch, issuedAt } = claims
  if (session !== 'out-of-reach' && (!session || session.isEnded || session.accountId !== accountId))
    return revoked
  if (account !== 'out-of-reach') {
    if (!account) return revoked
    // All sessions of an earlier epoch have ended, and epochs only grow.
    if (session !== 'out-of-reach' && session.sessionEpoch < account.sessionEpoch) return revoked
    // A role of an earlier epoch does not become valid again, even if the account has a role of that name again.
    if (roleEpoch < account.roleEpoch) return revoked
    if (isMismatch(account, claims)) return 'mismatch'
  }
  if (account === 'out-of-reach' || session === 'out-of-reach') {
    // Without the store, a token is accepted if its account and session have not changed since it was issued.
    if (!directory.isUnchangedSince(claims, issuedAt)) throw new GatehouseError('store-unavailable')
    return authenticated(claims, account === 'out-of-reach' ? undefined : account, undefined)
  }
  if (session.sessionEpoch !== account.sessionEpoch) return 'mismatch'
  return decideKey(facts, account, session.keyId)
}

/** A token ends with the key of its session. */
function decideKey(facts: TokenFacts, account: CachedAccount, keyId: string): AuthenticationOrMismatch {
  const portalEpoch = portalEpochIn(keyId)
  if (portalEpoch !== undefined) return decidePortalEpoch(facts, account, portalEpoch)
  const key = keyOfSession(account.keys, keyId)
  // The cached account may be older than the key.
  if (!key) return 'mismatch'
  return keyState(key, facts.now) === 'valid' ? authenticated(facts.claims, account, key) : revoked
}

/**
 * A browser's token ends with the portal sessions of its epoch, and rests while its account lacks a second factor that
 * is required.
 */
function decidePortalEpoch(
  { claims, directory }: TokenFacts,
  account: CachedAccount,
  portalEpoch: number,
): AuthenticationOrMismatch {
  if (portalEpoch < account.portalEpoch) return revoked
  if (portalEpoch > account.portalEpoch || directory.needsEnrolment(account)) return 'mismatch'
  return authenticated(claims, account, undefined)
}

function authenticated(
  claims: AccessTokenClaims,
  account: CachedAccount | undefined,
  key: CachedKey | undefined,
): Authentication {
  const { accountId, sessionId, role, scopes, confirmation } = claims
  const principal: Principal = {
    accountId,
    key: key?.principal.key,
    scopes,
    addresses: unlimited,
    plan: account?.plan,
    quota: key?.principal.quota,
    issuer: undefined,
    role,
    scheme: 'bearer',
    sessionId,
    profile: account?.profile,
  }
  const keyUntil = key ? validUntil(key) : Number.POSITIVE_INFINITY
  const holdsUntil = Math.min(claims.validUntil, keyUntil)
  return { kind: 'authenticated', principal, confirmation, holdsUntil }
}

/** Whether the account is disabled, or its role differs from the token's, which may be the newer one. */
function isMismatch(account: CachedAccount, { role, roleEpoch }: AccessTokenClaims): boolean {
  return account.isDisabled || account.roleEpoch !== roleEpoch || account.role !== role
}
