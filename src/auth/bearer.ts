import { GatehouseError } from '../errors.ts'
import type { AccessTokens, AccessTokenVerdict } from '../tokens/access-token.ts'
import type { AccessTokenClaims } from '../tokens/access-token-claims.ts'
import type { Directory, KnownAccount, KnownSession, Principal } from './principal.ts'
import { type Authentication, rejected, type Scheme } from './scheme.ts'

const revoked = rejected('token-revoked')
const expired = rejected('token-expired')

/** `mismatch`: the account that is known is not that of the token; either may be the older. */
type Judgement = Authentication | 'mismatch'

type Wrong = Exclude<AccessTokenVerdict, { readonly kind: 'valid' }>

/** What the store would have to say, or that it cannot. */
type Answer<Value> = Value | undefined | 'out-of-reach'

/**
 * `Authorization: Bearer <JWT>` (RFC 6750): ends with its session and its account, not only at `exp`. It is
 * refused only by what is true now: another instance may have issued it since what was kept was looked at.
 */
export function createBearerScheme(accessTokens: AccessTokens, directory: Directory): Scheme {
  const { confirm } = directory

  function judgeNow(claims: AccessTokenClaims): Judgement | Promise<Judgement> {
    const account = lookUp(directory.account, claims.accountId)
    const session = lookUp(directory.session, claims.sessionId)
    if (!(account instanceof Promise) && !(session instanceof Promise)) {
      return judge(claims, directory, account, session)
    }
    return Promise.all([account, session]).then((found) => judge(claims, directory, ...found))
  }

  function authenticateClaims(claims: AccessTokenClaims): Authentication | Promise<Authentication> {
    const judgement = judgeNow(claims)
    return judgement instanceof Promise
      ? judgement.then((settled) => decide(claims, settled))
      : decide(claims, judgement)
  }

  function decide(claims: AccessTokenClaims, judgement: Judgement): Authentication | Promise<Authentication> {
    return judgement === 'mismatch' ? settle(claims) : judgement
  }

  function settle(claims: AccessTokenClaims): Promise<Authentication> {
    return confirm().then(
      () => decideAfresh(claims),
      (outOfReach: unknown) => {
        if (directory.isKnownAfter(claims.accountId, claims.issuedAt)) return revoked
        throw outOfReach
      },
    )
  }

  async function decideAfresh(claims: AccessTokenClaims): Promise<Authentication> {
    const judgement = await judgeNow(claims)
    return judgement === 'mismatch' ? revoked : judgement
  }

  async function verifyAfresh(credential: string): Promise<Authentication> {
    await confirm()
    const verdict = accessTokens.verify(credential)
    return verdict.kind === 'valid' ? decideAfresh(verdict.claims) : refuse(verdict)
  }

  return {
    name: 'bearer',
    authenticate: (credential) => {
      const verdict = accessTokens.verify(credential)
      if (verdict.kind === 'valid') return authenticateClaims(verdict.claims)
      const mayBeRight = verdict.kind === 'invalid' && !verdict.isFinal && accessTokens.isOfNewKey(credential)
      return mayBeRight ? verifyAfresh(credential) : refuse(verdict)
    },
  }
}

function refuse(verdict: Wrong): Authentication {
  if (verdict.kind === 'expired') return expired
  const { isFinal, reason } = verdict
  return rejected('token-invalid', { holdsUntil: isFinal ? Number.POSITIVE_INFINITY : 0, reason })
}

/** A look-up that says so where the store is out of reach, at once or later. */
function lookUp<Value>(
  ask: (id: string) => Value | undefined | Promise<Value | undefined>,
  id: string,
): Answer<Value> | Promise<Answer<Value>> {
  try {
    const answer = ask(id)
    return answer instanceof Promise ? answer.catch(orOutOfReach) : answer
  } catch (error) {
    return orOutOfReach(error)
  }
}

function orOutOfReach(error: unknown): 'out-of-reach' {
  if (error instanceof GatehouseError && error.code === 'store-unavailable') return 'out-of-reach'
  throw error
}

function judge(
  claims: AccessTokenClaims,
  directory: Directory,
  account: Answer<KnownAccount>,
  session: Answer<KnownSession>,
): Judgement {
  const { accountId, sessionId, role, roleEpoch, issuedAt, validUntil: holdsUntil } = claims
  if (session !== 'out-of-reach' && (!session || session.isEnded || session.accountId !== accountId))
    return revoked
  if (account !== 'out-of-reach') {
    if (!account) return revoked
    // All sessions of that epoch have ended, and epochs are only counted up.
    if (session !== 'out-of-reach' && session.sessionEpoch < account.sessionEpoch) return revoked
    // Nor does the role of an earlier epoch come back, even where the account has a role of that name again.
    if (roleEpoch < account.roleEpoch) return revoked
    if (isOver(account, claims)) return 'mismatch'
  }
  if (account === 'out-of-reach' || session === 'out-of-reach') {
    // The token was true when it was issued; it still is, if nothing it stands for has changed since.
    if (!directory.isUnchangedSince(claims, issuedAt)) throw new GatehouseError('store-unavailable')
  } else if (session.sessionEpoch !== account.sessionEpoch) return 'mismatch'
  const profile = account === 'out-of-reach' ? undefined : account.principal.profile
  const principal: Principal = { accountId, role, scheme: 'bearer', sessionId, profile }
  return { kind: 'authenticated', principal, holdsUntil }
}

/** A disabled account, and one of another role now, is over for its tokens; a newer token is of one not known yet. */
function isOver(account: KnownAccount, { role, roleEpoch }: AccessTokenClaims): boolean {
  return account.isDisabled || account.roleEpoch !== roleEpoch || account.principal.role !== role
}
