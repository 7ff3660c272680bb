import type { KeyValidity } from '#store/secret-keys.ts'
import type { SchemeName } from './access.ts'

/** An authenticated caller. */
export interface Principal {
  readonly accountId: string
  readonly role: string
  readonly scheme: SchemeName
  /** Only with a bearer token. */
  readonly sessionId: string | undefined
  /**
   * The name of the secret key: the one that came, or that the session was started with; undefined where the store is
   * unreachable.
   */
  readonly key: string | undefined
  /** What the key or token is limited to; empty = it is not limited. */
  readonly scopes: readonly string[]
  /** Where a secret key is accepted from, as addresses and ranges; empty = anywhere. */
  readonly addresses: readonly string[]
  /** The plan of the account, or of the users of the issuer; undefined = none, or the store is unreachable. */
  readonly plan: string | undefined
  /** undefined where the store is unreachable: then only the token's claims are known. */
  readonly profile: Profile | undefined
  /**
   * The name of the foreign issuer whose token it was; undefined = an account. It has no account then: its ID is that
   * of `principalId`, and its profile what the token says.
   */
  readonly issuer: string | undefined
}

/** What an access token of ours does not contain. */
export interface Profile {
  /** undefined = a foreign issuer does not tell it. */
  readonly email: string | undefined
  readonly firstName: string
  readonly lastName: string
  readonly isVerified: boolean
}

/** The part of an account that decisions need; cached in the process. */
export interface CachedAccount {
  readonly isDisabled: boolean
  readonly sessionEpoch: number
  readonly roleEpoch: number
  /** Counts how often all portal sessions were ended. */
  readonly portalEpoch: number
  readonly role: string
  readonly plan: string | undefined
  readonly profile: Profile
  readonly keys: readonly CachedKey[]
}

/** A secret key of an account: see SecretKey. */
export interface CachedKey extends KeyValidity {
  readonly id: string
  /** SHA-256 of the key, one character for each byte: this takes less memory than an array. */
  readonly digest: string
  /** The principal of requests with it. */
  readonly principal: Principal
}

/** What is known of a session; cached in the process. An ended session never becomes open again. */
export type CachedSession =
  | { readonly isEnded: true }
  | {
      readonly isEnded: false
      readonly accountId: string
      readonly sessionEpoch: number
      /** The secret key that it was started with. */
      readonly keyId: string
    }

/** What is known of a principal of a foreign issuer; cached in the process. */
export interface CachedSubject {
  readonly isBlocked: boolean
}

/**
 * Accounts, sessions and principals of foreign issuers by ID. Cached ones are returned at once, others as a promise. A throw or rejection
 * (GatehouseError `store-unavailable`) means that it cannot be decided now.
 */
export interface Directory {
  account(id: string): CachedAccount | undefined | Promise<CachedAccount | undefined>
  session(id: string): CachedSession | undefined | Promise<CachedSession | undefined>
  /** By the ID that `principalId` makes. */
  subject(id: string): CachedSubject | Promise<CachedSubject>
  /**
   * Whether neither an account nor a session can have changed since a time on the clock of another instance, which may
   * differ from ours by tokens.clockTolerance: all changes since then have been read, and none was about them. Needs
   * no store.
   */
  isUnchangedSince(of: { readonly accountId: string; readonly sessionId: string }, time: number): boolean
  /** Whether what is known of an account is surely newer than a token of this time, on such a clock. Needs no store. */
  isAccountNewerThan(accountId: string, issuedAt: number): boolean
  /**
   * Brings the cache up to date: its contents are then as of this call, or later. To be called before a rejection
   * that relies on the cache. Concurrent calls share one reading of the change log, of which there are at most some 200
   * a second.
   * @throws GatehouseError `store-unavailable`
   */
  confirm(): Promise<void>
  /**
   * Whether the cache may be used: the change log was read a moment ago, or the store is unreachable. Not after the
   * process stalled (stopped, suspended, starved). A comparison of numbers.
   * @param now on the clock of performance.now()
   * @param time milliseconds since 1970
   */
  isCurrent(now: number, time: number): boolean
  /**
   * To be called where it is not current: resolves once it is as of this call, or the store is unreachable and
   * cached data is used for `cache.maxStale` as in any outage.
   */
  catchUp(): Promise<void>
  /**
   * A new object after each change of any account, session, subject or signing key: while it is the same nothing has changed.
   * undefined = the store is unreachable, and the cache ages.
   */
  version(): object | undefined
  /** Counts a hit for a look-up that was skipped because its result is still valid. */
  countHit(): void
  /** Revoked or rejected secret keys: rejecting them again needs no `confirm`. */
  readonly revokedKeys: {
    add(digest: Uint8Array): void
    has(digest: Uint8Array): boolean
  }
}
