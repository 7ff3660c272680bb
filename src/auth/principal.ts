import type { SchemeName } from '../routes/route.ts'

/** Who is calling, once that is certain. */
export interface Principal {
  readonly accountId: string
  readonly role: string
  readonly scheme: SchemeName
  /** Of a bearer token only. */
  readonly sessionId: string | undefined
  /** undefined where the store is out of reach and the token says all there is to know. */
  readonly profile: Profile | undefined
}

/** What an access token does not say. */
export interface Profile {
  readonly email: string
  readonly firstName: string
  readonly lastName: string
  readonly isVerified: boolean
}

/** What is known of an account, as far as it takes part in deciding; kept in the process. */
export interface KnownAccount {
  readonly isDisabled: boolean
  readonly sessionEpoch: number
  readonly roleEpoch: number
  readonly secretKey: { readonly digest: Uint8Array }
  readonly previousSecretKey: { readonly digest: Uint8Array; readonly validUntil: number } | undefined
  /** Who calls with its secret key. */
  readonly principal: Principal
}

/** What is known of a session; kept in the process. One that has ended does not come back. */
export type KnownSession =
  | { readonly isEnded: true }
  | { readonly isEnded: false; readonly accountId: string; readonly sessionEpoch: number }

/**
 * Accounts and sessions by ID. What is known is answered at once, what must be looked up as a promise.
 * A throw or rejection (GatehouseError `store-unavailable`) means it cannot be decided now.
 */
export interface Directory {
  account(id: string): KnownAccount | undefined | Promise<KnownAccount | undefined>
  session(id: string): KnownSession | undefined | Promise<KnownSession | undefined>
  /**
   * Whether neither an account nor a session can have changed since a time on the clock of another instance,
   * which may differ from ours by tokens.clockTolerance: every change since then has been heard of, and none
   * was about them. Needs no store.
   */
  isUnchangedSince(of: { readonly accountId: string; readonly sessionId: string }, time: number): boolean
  /** Whether what is known of an account is surely newer than a token of this time, on such a clock. Needs no store. */
  isKnownAfter(accountId: string, issuedAt: number): boolean
  /**
   * Brings all that is known up to date: what is known then was true when this was called, or later. To be
   * called before anything is refused for what was kept. However many call, the change log is read once for
   * all of them, and some 200 times a second at most.
   * @throws GatehouseError `store-unavailable`
   */
  confirm(): Promise<void>
  /**
   * Another object after each change of an account, a session or a signing key, whichever: as long as it is the
   * same, all that was known is known. undefined = the store is out of reach, and what is known ages.
   */
  version(): object | undefined
  /** Counts a look-up that was spared, as it would have found what was found before. */
  countHit(): void
  /** Secret keys that are known to be wrong: they need no confirming. */
  readonly spentKeys: {
    note(digest: Uint8Array): void
    has(digest: Uint8Array): boolean
  }
}
