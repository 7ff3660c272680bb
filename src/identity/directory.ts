import type { EpochMs, MonotonicMs } from '#platform/time.ts'
import type { Account } from '#store/accounts.ts'
import type { KeyValidity } from '#store/secret-keys.ts'
import type { Session } from '#store/sessions.ts'
import type { Principal, Profile } from './decision.ts'

/** The part of an account that decisions need; cached in the process. */
export interface CachedAccount
  extends Pick<Account, 'isDisabled' | 'sessionEpoch' | 'roleEpoch' | 'role' | 'plan'> {
  /** Counts how many times all portal sessions were ended. */
  readonly portalEpoch: number
  /** Whether the password alone signs in to the portal. */
  readonly isPasswordEnough: boolean
  readonly profile: Profile
  readonly keys: readonly CachedKey[]
}

/** A secret key of an account: see SecretKey. */
export interface CachedKey extends KeyValidity {
  readonly id: string
  /** SHA-256 of the key as a text with one character for each byte, which takes less memory than an array. */
  readonly digest: string
  /** The principal of requests that use it. */
  readonly principal: Principal
}

/** What is known of a session; cached in the process. An ended session never becomes open again. */
export type CachedSession =
  | { readonly isEnded: true }
  | ({ readonly isEnded: false } & Pick<Session, 'accountId' | 'sessionEpoch' | 'keyId'>)

/** What is known of a principal of a foreign issuer; cached in the process. */
export interface CachedSubject {
  readonly isBlocked: boolean
}

/**
 * Accounts, sessions and principals of foreign issuers by ID. Cached ones are returned synchronously, others as a
 * promise. A throw or rejection (GatehouseError `store-unavailable`) means that it cannot be decided now.
 */
export interface Directory {
  account(id: string): CachedAccount | undefined | Promise<CachedAccount | undefined>
  session(id: string): CachedSession | undefined | Promise<CachedSession | undefined>
  /** Whether an account has to set up a second factor before a session of the portal gives it any access. */
  needsEnrolment(account: CachedAccount): boolean
  /** By the ID from `principalId`. */
  subject(id: string): CachedSubject | Promise<CachedSubject>
  /**
   * Whether neither the account nor the session can have changed since a time on the clock of another instance, which
   * may differ from ours by tokens.clockTolerance: all changes since then have been read, and none concerned them.
   * Needs no store.
   */
  isUnchangedSince(of: { readonly accountId: string; readonly sessionId: string }, time: EpochMs): boolean
  /**
   * Whether what is known of the account is certainly newer than a token that another instance issued at this time, by
   * its own clock. Needs no store.
   */
  isAccountNewerThan(accountId: string, issuedAt: EpochMs): boolean
  /**
   * Resolves once the cache contains all changes made before this call. Call it before a rejection that relies on the
   * cache. Concurrent calls share one reading of the change log, of which there are at most about 200 a second.
   * @throws GatehouseError `store-unavailable`
   */
  confirm(): Promise<void>
  /**
   * Whether the cache may be used: the change log was read a moment ago, or the store is unreachable. False after the
   * process was stalled (stopped, suspended, starved). Cheap.
   */
  isCurrent(now: MonotonicMs, time: EpochMs): boolean
  /**
   * To be called if the cache is not current. Resolves once it contains all changes made before this call, or the store
   * is unreachable and cached data is used for `cache.maxStale`, as in any outage.
   */
  catchUp(): Promise<void>
  /**
   * A new object after each change of any account, session, subject or signing key: as long as it is the same, nothing
   * has changed. undefined = the store is unreachable, and the cache ages.
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
