import { GatehouseError } from '../errors.ts'
import type { AccessTokenClaims, AccessTokens } from '../tokens/access-token.ts'
import type { Directory, KnownAccount, KnownSession } from './principal.ts'
import { type Authentication, rejected, type Scheme } from './scheme.ts'

const revoked = rejected('token-revoked')

/** What the store would have to say, or that it cannot. */
type Known<Value> = Value | undefined | 'out-of-reach'

/** `Authorization: Bearer <JWT>` (RFC 6750): ends with its session and its account, not only at `exp`. */
export function createBearerScheme(accessTokens: AccessTokens, directory: Directory): Scheme {
  return {
    name: 'bearer',
    authenticate: (credential) => {
      const verdict = accessTokens.verify(credential)
      if (verdict.kind === 'invalid') return rejected(verdict.code)
      const { claims } = verdict
      const account = lookUp<KnownAccount>(() => directory.account(claims.accountId))
      const session = lookUp<KnownSession>(() => directory.session(claims.sessionId))
      if (!(account instanceof Promise) && !(session instanceof Promise)) {
        return judge(claims, directory, account, session)
      }
      return Promise.all([account, session]).then((found) => judge(claims, directory, ...found))
    },
  }
}

/** A look-up that says so where the store is out of reach, at once or later. */
function lookUp<Value>(
  ask: () => Value | undefined | Promise<Value | undefined>,
): Known<Value> | Promise<Known<Value>> {
  try {
    const answer = ask()
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
  account: Known<KnownAccount>,
  session: Known<KnownSession>,
): Authentication {
  const { accountId, sessionId, role, issuedAt } = claims
  if (account !== 'out-of-reach' && (!account || isOver(account, role))) return revoked
  if (session !== 'out-of-reach' && (!session || session.isEnded || session.accountId !== accountId))
    return revoked
  if (account === 'out-of-reach' || session === 'out-of-reach') {
    // The token was true when it was issued; it still is, if nothing it stands for has changed since.
    if (!directory.isUnchangedSince(claims, issuedAt)) throw new GatehouseError('store-unavailable')
  } else if (session.sessionEpoch !== account.sessionEpoch) return revoked
  const profile = account === 'out-of-reach' ? undefined : account.principal.profile
  return { kind: 'authenticated', principal: { accountId, role, scheme: 'bearer', sessionId, profile } }
}

/** A disabled account, and one of another role now, is over for its tokens. */
function isOver({ isDisabled, principal }: KnownAccount, role: string): boolean {
  return isDisabled || principal.role !== role
}
