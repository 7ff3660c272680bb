import type { Clock } from '#platform/clock.ts'
import type { SessionStore } from '#store/sessions.ts'
import { createLru } from '../cache/lru.ts'
import type { AccessTokens, TokenSubject } from './access-token.ts'
import type { AccessTokenClaims } from './access-token-claims.ts'

/** The access tokens that browsers have in the access cookie, which live longer than others. */
export interface CookieTokens {
  /** @param endsAt when its session ends, as far as is known; in milliseconds since 1970 */
  issue(subject: TokenSubject & Required<Pick<TokenSubject, 'limits'>>, endsAt: number): string
  /**
   * What takes the place of a token that has passed: from the second half of its life on, as long as its session lasts.
   * Requests of one session get the same, so that parallel ones renew once. Synchronous unless the store has to be asked.
   * @returns undefined = not yet, no more, or the store is out of reach
   */
  renew(token: string): string | undefined | Promise<string | undefined>
}

interface CookieTokensOptions {
  readonly accessTokens: AccessTokens
  readonly store: Pick<SessionStore, 'findSession'>
  readonly lifetimeMs: number
  readonly refreshIdleMs: number
  readonly clockToleranceMs: number
  /** Called for each token that takes the place of another. */
  onRenewed(): void
  readonly clock: Clock
}

interface Renewal {
  readonly token: string | undefined
  /** From when on the next is due. */
  readonly dueAt: number
}

/** Sessions whose last renewal is kept, in 10 MB. */
const renewalsMax = 10_000
/** Times in a token are whole seconds. */
const secondMs = 1_000

export function createCookieTokens(options: CookieTokensOptions): CookieTokens {
  const { accessTokens, store, lifetimeMs, refreshIdleMs, clockToleranceMs, onRenewed, clock } = options
  const renewals = createLru<Renewal | Promise<Renewal>>(renewalsMax)

  const issue: CookieTokens['issue'] = (subject, endsAt) => {
    const { scopes, validUntil } = subject.limits
    const limits = { scopes, validUntil: Math.min(validUntil, endsAt) }
    return accessTokens.issue({ ...subject, limits }, lifetimeMs)
  }

  async function renewNow(claims: AccessTokenClaims): Promise<Renewal> {
    const { accountId, sessionId, role, roleEpoch, scopes } = claims
    const expiresAt = claims.validUntil - clockToleranceMs
    const session = await store.findSession(sessionId)
    const endsAt = session ? Math.min(session.expiresAt, session.rotatedAt + refreshIdleMs) : 0
    const now = clock()
    const nextEnd = Math.min(endsAt, now + lifetimeMs)
    if (!session || session.end !== undefined || nextEnd < expiresAt + secondMs)
      return { token: undefined, dueAt: expiresAt }
    onRenewed()
    // The token has passed, so its role is that of the account; it ends with its key whatever its `exp`.
    const subject = { accountId, sessionId, role, roleEpoch, limits: { scopes, validUntil: endsAt } }
    return { token: issue(subject, endsAt), dueAt: (now + nextEnd) / 2 }
  }

  /** A failure is not kept: the next request tries again. */
  function startRenewal(claims: AccessTokenClaims): Promise<string | undefined> {
    const { sessionId } = claims
    const renewing = renewNow(claims)
    renewals.set(sessionId, renewing)
    return renewing.then(
      (renewal) => {
        renewals.set(sessionId, renewal)
        return renewal.token
      },
      () => {
        renewals.delete(sessionId)
        return undefined
      },
    )
  }

  function renew(token: string): string | undefined | Promise<string | undefined> {
    const verdict = accessTokens.verify(token)
    if (verdict.kind !== 'valid') return undefined
    const { claims } = verdict
    const now = clock()
    if (now < (claims.issuedAt + claims.validUntil - clockToleranceMs) / 2) return undefined
    const known = renewals.get(claims.sessionId)
    if (known instanceof Promise) return known.then((renewal) => renewal.token).catch(() => undefined)
    return known && now < known.dueAt ? known.token : startRenewal(claims)
  }

  return { issue, renew }
}
