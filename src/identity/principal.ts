import type { Quota } from '#store/quotas.ts'
import type { SchemeName } from './access.ts'

/** An authenticated caller. */
export interface Principal {
  readonly accountId: string
  readonly role: string
  readonly scheme: SchemeName
  /** Only with a bearer token. */
  readonly sessionId: string | undefined
  /** The name of the secret key that was sent, or that started the session; undefined if the store is unreachable. */
  readonly key: string | undefined
  /** What the key or token is limited to; empty = it is not limited. */
  readonly scopes: readonly string[]
  /** The addresses and ranges from which a secret key is accepted; empty = anywhere. */
  readonly addresses: readonly string[]
  /** The plan of the account, or of the users of the issuer; undefined = none, or the store is unreachable. */
  readonly plan: string | undefined
  /** The quota of the key, which its tokens count against too; undefined = none, or the store is unreachable. */
  readonly quota: CountedQuota | undefined
  /** undefined if the store is unreachable: then only the token's claims are known. */
  readonly profile: Profile | undefined
  /**
   * The name of the foreign issuer of the token; undefined = the principal is an account. Otherwise its ID comes from
   * `principalId`, and its profile from the token.
   */
  readonly issuer: string | undefined
}

/** The quota of a secret key, with what it is counted by. */
export interface CountedQuota extends Quota {
  readonly subject: string
}

/** What our access tokens do not contain. */
export interface Profile {
  /** undefined = the foreign issuer does not provide it. */
  readonly email: string | undefined
  readonly firstName: string
  readonly lastName: string
  readonly isVerified: boolean
}
