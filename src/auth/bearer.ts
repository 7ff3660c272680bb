import { GatehouseError, isOutOfReach } from '../errors.ts'
import type { AccessTokens, AccessTokenVerdict } from '../tokens/access-token.ts'
import type { AccessTokenClaims } from '../tokens/access-token-claims.ts'
import type { Directory, KnownAccount, KnownSession, Principal } from './principal.ts'
import { type Authentication, rejected, type Scheme } from './scheme.ts'

const revoked = rejected('token-revoked')
const expired = rejected('token-expired')

/** `mismatch`: the known account does not agree with the token; either may be the older. */
type Judgement = Authentication | 'mismatch'

type Wrong = Exclude<AccessTokenVerdict, { readonly kind: 'valid' }>

/** What the store says, or that it is out of reach. */
type Answer<Value> = Value | undefined | 'out-of-reach'

/**
 * `Authorization: Bearer <JWT>` (RFC 6750): a token ends with its session and its account, not only at `exp`. It is
 * refused only after the cache was brought up to date: another instance may have issued it since.
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

/** A look-up that returns `out-of-reach` instead of throwing or rejecting. */
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
  if (isOutOfReach(error)) return 'out-of-reach'
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
    // All sessions of an earlier epoch have ended, and epochs only grow.
    if (session !== 'out-of-reach' && session.sessionEpoch < account.sessionEpoch) return revoked
    // A role of an earlier epoch does not come back, even if the account has a role of that name again.
    if (roleEpoch < account.roleEpoch) return revoked
    if (isOver(account, claims)) return 'mismatch'
  }
  if (account === 'out-of-reach' || session === 'out-of-reach') {
    // The token was right when it was issued, and still is if its account and session have not changed since.
    if (!directory.isUnchangedSince(claims, issuedAt)) throw new GatehouseError('store-unavailable')
  } else if (session.sessionEpoch !== account.sessionEpoch) return 'mismatch'
  const profile = account === 'out-of-reach' ? undefined : account.principal.profile
  const principal: Principal = { accountId, role, scheme: 'bearer', sessionId, profile }
  return { kind: 'authenticated', principal, holdsUntil }
}

/** Whether the token does not fit the account: disabled, or with another role. The token may be the newer one. */
function isOver(account: KnownAccount, { role, roleEpoch }: AccessTokenClaims): boolean {
  return account.isDisabled || account.roleEpoch !== roleEpoch || account.principal.role !== role
}
