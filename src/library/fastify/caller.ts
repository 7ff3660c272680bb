import type { Principal } from '#identity/principal.ts'
import { memoizeByObject } from '#platform/memoize.ts'

/** Who is calling: an account, by one of its credentials. Frozen. */
export interface Caller {
  readonly accountId: string
  readonly role: string
  /** How the caller was authenticated. */
  readonly scheme: 'secretKey' | 'bearer'
  /** Only with a bearer token. */
  readonly sessionId: string | undefined
  /** The name of the secret key that came, or that the token was got with; undefined also while the store is unreachable. */
  readonly key: string | undefined
  /** What the key or token is limited to; empty = it is not limited. */
  readonly scopes: readonly string[]
  /** The plan of the account; undefined = none, or the store is unreachable. */
  readonly plan: string | undefined
  /** undefined while the store is unreachable, for a bearer token whose account is not cached. */
  readonly profile: CallerProfile | undefined
}

export interface CallerProfile {
  readonly email: string
  readonly firstName: string
  readonly lastName: string
  readonly isVerified: boolean
}

/** A copy of a principal for the app: the principal itself is shared by all requests of its account. */
export const callerOf = memoizeByObject(
  ({ accountId, role, scheme, sessionId, key, scopes, plan, profile }: Principal): Caller =>
    Object.freeze({
      accountId,
      role,
      scheme,
      sessionId,
      key,
      scopes: Object.freeze([...scopes]),
      plan,
      profile: profile && Object.freeze({ ...profile, email: profile.email ?? '' }),
    }),
)
