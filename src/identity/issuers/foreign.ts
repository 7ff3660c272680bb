import { throwUnlessStoreUnavailable } from '#platform/errors/gatehouse-error.ts'
import { unlimited } from '#store/secret-keys.ts'
import { type Authentication, type Principal, refusedCredential, refusedToken } from '../decision.ts'
import type { CachedSubject, Directory } from '../directory.ts'
import type { ForeignClaims, ForeignVerdict } from './foreign-claims.ts'
import type { ForeignTokens, Knowledge } from './foreign-tokens.ts'

/** Access tokens of foreign issuers, by `Authorization: Bearer` or `DPoP`. */
export interface ForeignScheme {
  /**
   * @param issuers names of those that are accepted
   * @returns undefined if the token is from none of them, and may be one of ours
   * @throws GatehouseError `store-unavailable`, also as a rejection, if it is not known whether the subject is blocked
   */
  authenticate(
    token: string,
    issuers: ReadonlySet<string>,
  ): Authentication | undefined | Promise<Authentication>
  /** See ForeignTokens. */
  knowledgeOf(token: string, issuers: ReadonlySet<string>): Knowledge | undefined
}

interface ForeignSchemeOptions {
  readonly tokens: ForeignTokens
  readonly directory: Pick<Directory, 'subject' | 'confirm'>
  /** Whether a token is known to be ours, so that it need not be parsed here. */
  isOwn(token: string): boolean
}

const blocked = refusedCredential('subject-blocked')

/** A subject is refused as blocked only once the cache is up to date, as it may have been unblocked since. */
export function createForeignScheme({ tokens, directory, isOwn }: ForeignSchemeOptions): ForeignScheme {
  function authenticate(
    token: string,
    issuers: ReadonlySet<string>,
  ): Authentication | undefined | Promise<Authentication> {
    if (isOwn(token)) return undefined
    const verdict = tokens.verify(token, issuers)
    if (verdict === undefined) return undefined
    return verdict instanceof Promise ? verdict.then(decideVerdict) : decideVerdict(verdict)
  }

  function decideVerdict(verdict: ForeignVerdict): Authentication | Promise<Authentication> {
    if (verdict.kind === 'valid') return decideClaims(verdict.claims)
    return verdict.kind === 'undecided'
      ? refusedCredential('issuer-unavailable', { reason: verdict.reason })
      : refusedToken(verdict)
  }

  function decideClaims(claims: ForeignClaims): Authentication | Promise<Authentication> {
    const subject = directory.subject(claims.principalId)
    return subject instanceof Promise
      ? subject.then((found) => decideOrConfirm(claims, found))
      : decideOrConfirm(claims, subject)
  }

  function decideOrConfirm(
    claims: ForeignClaims,
    { isBlocked }: CachedSubject,
  ): Authentication | Promise<Authentication> {
    return isBlocked ? confirmBlocked(claims) : authenticated(claims)
  }

  function confirmBlocked(claims: ForeignClaims): Promise<Authentication> {
    return directory.confirm().then(
      async () => {
        const { isBlocked } = await directory.subject(claims.principalId)
        return isBlocked ? blocked : authenticated(claims)
      },
      (error: unknown) => {
        throwUnlessStoreUnavailable(error)
        // A subject that is known to be blocked stays refused while the store is unreachable.
        return blocked
      },
    )
  }

  return { authenticate, knowledgeOf: tokens.knowledgeOf }
}

function authenticated(claims: ForeignClaims): Authentication {
  const { issuer, principalId, role, scopes, email, isEmailVerified, plan, confirmation, validUntil } = claims
  const principal: Principal = {
    accountId: principalId,
    key: undefined,
    scopes,
    addresses: unlimited,
    quota: undefined,
    plan,
    issuer,
    role,
    scheme: 'bearer',
    sessionId: undefined,
    profile: { email, firstName: '', lastName: '', isVerified: isEmailVerified },
  }
  return { kind: 'authenticated', principal, confirmation, holdsUntil: validUntil }
}
