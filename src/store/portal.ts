import type { EpochMs } from '#platform/time.ts'
import type { Account, AccountVerb } from './accounts.ts'
import type { AuditEntry } from './audit-entry.ts'
import type { EmailLink, ExternalIdentity, OneTimeLink, Passkey, SecondFactor } from './portal-access.ts'
import type { SecretKey, StoredKey } from './secret-keys.ts'
import type { Visitor } from './sessions.ts'

/** Passwords, second factors, links sent by mail, and the sessions of browsers in the portal. */
export interface PortalStore extends SecondFactorStore {
  /**
   * Without the old password as proof, the sealed copies of the account's earlier keys are dropped, unless nobody has
   * used the account in the portal yet. A new password ends the count of wrong ones; with a second factor, only one
   * that is set without proof or by a set-up link. `refused`: the proof is not, or no longer, valid.
   */
  readonly setPassword: AccountVerb<PasswordChange, 'set' | 'refused' | 'unknown'>
  /**
   * Counts an attempt to sign in, before its password is checked.
   * @param client the ID of a known client; undefined = an unknown client
   */
  countPasswordAttempt(accountId: string, client: string | undefined): Promise<PasswordAttemptCount>
  /** Reverts what countPasswordAttempt counted, if the password was not wrong. */
  settlePasswordAttempt(accountId: string, outcome: AttemptOutcome, client: string | undefined): Promise<void>
  /** Replaces an earlier link; false if there is no such account. */
  readonly setSetupLink: AccountVerb<OneTimeLink>
  /** Sets the link for a forgotten password; a set-up link stays. */
  readonly setResetLink: AccountVerb<OneTimeLink>
  /**
   * Remembers the network of a sign-in.
   * @returns `first` if none was known before; `known` also if there is no such account
   */
  noteSignInNetwork(accountId: string, network: string): Promise<'first' | 'new' | 'known'>
  /** The language of the portal for this account; undefined = as the browser prefers. */
  setLanguage(accountId: string, language: string | undefined): Promise<boolean>
  readonly setEmailLink: AccountVerb<EmailLink>
  /** Sets the account's e-mail to the link's, verified; the link is redeemed. */
  readonly redeemEmailLink: AccountVerb<
    { readonly digest: string; readonly now: EpochMs },
    'verified' | 'refused' | 'exists' | 'unknown'
  >

  /** The account of a person at an OpenID provider. */
  findAccountByIdentity(identity: ExternalIdentity): Promise<Account | undefined>
  /**
   * Links an account with a person whose e-mail the provider has verified: the account's e-mail then counts as verified
   * too, and earlier links stop working. `refused`: the account has another e-mail by now, or belongs to another person
   * of the same issuer; the person has another account; or there is no proof, although somebody else may use it
   * (`mayBeAnothers`). Links with other issuers stay; beyond `identitiesMax` the oldest is removed.
   */
  readonly linkIdentity: AccountVerb<IdentityLink, 'linked' | 'refused' | 'unknown'>
  /** Removes the links of an account and ends its portal sessions; false if there are none. */
  unlinkIdentities(accountId: string, audit?: AuditEntry): Promise<boolean>

  /**
   * Starts a portal session, unless the account has changed since `expected` was read. Sessions that have ended are
   * removed, and the oldest beyond `portalSessionsMax`.
   */
  startPortalSession(
    session: Omit<PortalSession, 'epoch' | 'seenAt'>,
    expected: { readonly revision: number },
    audit?: AuditEntry,
  ): Promise<'started' | 'account-changed'>
  findPortalSession(accountId: string, id: string): Promise<PortalSession | undefined>
  /** Updates when and from where a session was last used, if it still exists; for display only. */
  touchPortalSession(accountId: string, id: string, seen: Visitor & { readonly at: EpochMs }): Promise<void>
  /** Active sessions, newest first; those of one moment in the order of their IDs. */
  listPortalSessions(accountId: string, now: EpochMs): Promise<readonly PortalSession[]>
  readonly endPortalSession: AccountVerb<string>
  /** Ends all portal sessions; false where there is no such account. */
  endPortalSessions(accountId: string, audit?: AuditEntry): Promise<boolean>
}

/** Each verb is refused if the account is not in the required state. */
export interface SecondFactorStore {
  /** Adds an authenticator app, with new recovery codes; false if there is an app, or no such account. */
  readonly enableSecondFactor: AccountVerb<SecondFactor>
  /** False if the code has been used before, on any instance, or is not the account's. */
  readonly useSecondFactor: AccountVerb<SecondFactorUse>
  /** Replaces the recovery codes by those with these digests. */
  readonly setRecoveryCodes: AccountVerb<readonly string[]>
  /** Removes the whole second factor, or only the app: then passkeys and recovery codes stay. */
  readonly disableSecondFactor: AccountVerb<'all' | 'app'>
  readonly addPasskey: AccountVerb<PasskeyAddition, PasskeyAdded>
  readonly usePasskey: AccountVerb<PasskeyUse, PasskeyUsed>
  /** Gives a passkey another name, or removes it where that is undefined; the last one goes with the recovery codes. */
  readonly changePasskey: AccountVerb<{ readonly id: string; readonly name: string | undefined }>
}

export interface PasskeyAddition {
  readonly passkey: Passkey
  /** When the challenge was made that it has answered. */
  readonly challengeAt: EpochMs
  /** For an account without a second factor. */
  readonly recoveryDigests: readonly string[]
  readonly passkeysMax: number
}

/** `exists`: the account has it already; `replayed`: the challenge, or a later one, was used before. */
export type PasskeyAdded = 'added' | 'exists' | 'too-many' | 'replayed' | 'unknown'

export interface PasskeyUse {
  readonly id: string
  /** The counter that the authenticator has sent. */
  readonly counter: number
  readonly challengeAt: EpochMs
  readonly now: EpochMs
}

/** `counter`: it has not increased, so that another authenticator may have the same key. */
export type PasskeyUsed = 'used' | 'counter' | 'replayed' | 'unknown'

/** What a sign-in uses up: the code of a time step, or a recovery code. */
export type SecondFactorUse =
  | { readonly kind: 'step'; readonly step: number }
  | { readonly kind: 'recovery'; readonly digest: string }

export interface IdentityLink {
  readonly identity: ExternalIdentity
  readonly email: string
  /**
   * `session`: the person is signed in to the account. `take-over`: its password, second factor, sessions and keys end,
   * and it gets these keys. undefined = nobody may have used the account yet.
   */
  readonly proof?:
    | { readonly kind: 'session' }
    | { readonly kind: 'take-over'; readonly secretKey: SecretKey; readonly apiKey: StoredKey }
    | undefined
}

/** A new password ends all portal sessions, a re-hashed one does not. */
export interface PasswordChange {
  readonly password: string
  readonly proof: PasswordProof | undefined
  readonly endsSessions: boolean
}

/** What permits a new password; where undefined is allowed instead, no proof is needed. */
export type PasswordProof =
  /** The link with this digest, which is redeemed together with the other one. */
  | { readonly kind: 'setup-link' | 'reset-link'; readonly digest: string; readonly now: EpochMs }
  /** The password that was checked, if it is still the same. */
  | { readonly kind: 'password'; readonly password: string }

/** An attempt that was counted, and the number of consecutive failures with it; `refused` = too many of them. */
type PasswordAttemptCount =
  | { readonly kind: 'counted'; readonly inARow: number }
  | { readonly kind: 'refused' | 'unknown' }

export type AttemptOutcome =
  /** A known client has the right password: earlier failures no longer count. */
  | 'known-client'
  /** An unknown client has the right password, or it was not checked: only this attempt does not count. */
  | 'not-wrong'

/** One sign-in to the portal, in one browser. Its address and User-Agent are those of its last use. */
export interface PortalSession extends Visitor {
  readonly id: string
  readonly accountId: string
  /** SHA-256 of its token, base64url. */
  readonly digest: string
  readonly createdAt: EpochMs
  /** Never extended. */
  readonly expiresAt: EpochMs
  /** When it was last used, to the minute. */
  readonly seenAt: EpochMs
  /** `portal.epoch` of the account when it was started. */
  readonly epoch: number
}

/** How many browsers can be signed in to one account. */
export const portalSessionsMax = 100
