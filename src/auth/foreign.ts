import type { ForeignClaims } from '../issuers/foreign-claims.ts'
import type { ForeignTokens, ForeignVerdict } from '../issuers/foreign-tokens.ts'
import { principalId } from '../issuers/principal-id.ts'
import { unlimited } from '../store/secret-keys.ts'
import type { Principal } from './principal.ts'
import { type Authentication, rejected } from './scheme.ts'

/** `Authorization: Bearer <JWT>` of foreign issuers. */
export interface ForeignScheme {
  /**
   * @param issuers names of those that are accepted
   * @returns undefined where the token is of none of them: it may be one of ours
   */
  authenticate(
    token: string,
    issuers: ReadonlySet<string>,
  ): Authentication | undefined | Promise<Authentication>
}

export interface ForeignSchemeOptions {
  readonly tokens: ForeignTokens
  /** Whether a token is known to be one of ours: then it need not be read here. */
  isOwn(token: string): boolean
}

const expired = rejected('token-expired')

export function createForeignScheme({ tokens, isOwn }: ForeignSchemeOptions): ForeignScheme {
  return {
    authenticate: (token, issuers) => {
      if (isOwn(token)) return undefined
      const verdict = tokens.verify(token, issuers)
      if (verdict === undefined) return undefined
      return verdict instanceof Promise ? verdict.then(toAuthentication) : toAuthentication(verdict)
    },
  }
}

function toAuthentication(verdict: ForeignVerdict): Authentication {
  switch (verdict.kind) {
    case 'valid':
      return authenticated(verdict.claims)
    case 'expired':
      return expired
    case 'invalid': {
      const { isFinal, reason } = verdict
      return rejected('token-invalid', { holdsUntil: isFinal ? Number.POSITIVE_INFINITY : 0, reason })
    }
    case 'undecided':
      return rejected('issuer-unavailable', { reason: verdict.reason })
    default:
      return verdict satisfies never
  }
}

function authenticated(claims: ForeignClaims): Authentication {
  const { issuer, subject, role, scopes, email, isEmailVerified, validUntil } = claims
  const principal: Principal = {
    accountId: principalId(issuer, subject),
    role,
    scheme: 'bearer',
    sessionId: undefined,
    key: undefined,
    scopes,
    addresses: unlimited,
    plan: undefined,
    profile: { email, firstName: '', lastName: '', isVerified: isEmailVerified },
    issuer,
  }
  return { kind: 'authenticated', principal, holdsUntil: validUntil }
}
