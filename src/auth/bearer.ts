import type { AccessTokenClaims, AccessTokens } from '../tokens/access-token.ts'
import type { Directory, KnownAccount, KnownSession } from './principal.ts'
import { type Authentication, rejected, type Scheme } from './scheme.ts'

const revoked = rejected('token-revoked')

/** `Authorization: Bearer <JWT>` (RFC 6750): ends with its session and its account, not only at `exp`. */
export function createBearerScheme(accessTokens: AccessTokens, directory: Directory): Scheme {
  return {
    name: 'bearer',
    authenticate: (credential) => {
      const verdict = accessTokens.verify(credential)
      if (verdict.kind === 'invalid') return rejected(verdict.code)
      const { claims } = verdict
      const account = directory.account(claims.accountId)
      const session = directory.session(claims.sessionId)
      if (!(account instanceof Promise) && !(session instanceof Promise))
        return judge(claims, account, session)
      return Promise.all([account, session]).then(([account, session]) => judge(claims, account, session))
    },
  }
}

function judge(
  { accountId, sessionId, role }: AccessTokenClaims,
  account: KnownAccount | undefined,
  session: KnownSession | undefined,
): Authentication {
  if (!account || account.isDisabled || account.principal.role !== role) return revoked
  if (!session || session.isEnded || session.accountId !== accountId) return revoked
  if (session.sessionEpoch !== account.sessionEpoch) return revoked
  return { kind: 'authenticated', principal: { ...account.principal, scheme: 'bearer', sessionId } }
}
