import type { PasswordFailures } from './password-failures.ts'

/** How the person behind an account gets into the portal. Stored with the account; digests only. */
export interface PortalAccess {
  /** Counts how often all portal sessions were ended: a session of an earlier epoch is over. */
  readonly epoch: number
  /** Argon2id in PHC form, keyed with the sealing key; undefined = no password has been set. */
  readonly password: string | undefined
  /** undefined = there was no wrong one since. */
  readonly failures: PasswordFailures | undefined
  /** The last set-up link that was made, until it is used. */
  readonly setupLink: OneTimeLink | undefined
  /** The last verification that was sent, until it is used. */
  readonly emailLink: EmailLink | undefined
}

/** A link that works once. */
export interface OneTimeLink {
  /** SHA-256 of its token, base64url. */
  readonly digest: string
  readonly expiresAt: number
}

/** A link that proves that its user reads this address. */
export interface EmailLink extends OneTimeLink {
  /** The account's e-mail once the link is used: the present one, or a new one. */
  readonly email: string
}

/** One sign-in to the portal, in one browser. */
export interface PortalSession {
  readonly id: string
  readonly accountId: string
  /** SHA-256 of its token, base64url. */
  readonly digest: string
  readonly createdAt: number
  /** Never extended. */
  readonly expiresAt: number
  /** When and from where it was last used, to the minute. */
  readonly seenAt: number
  readonly address: string
  readonly userAgent: string
  /** `portal.epoch` of the account when it was started. */
  readonly epoch: number
}

/** How many browsers can be signed in with one account. */
export const portalSessionsMax = 100

/** What permits a new password; where undefined is allowed instead, no proof is needed. */
export type PasswordProof =
  /** The set-up link with this digest, which is used up. */
  | { readonly kind: 'setup-link'; readonly digest: string; readonly now: number }
  /** The password that was checked, if it is still the same. */
  | { readonly kind: 'password'; readonly password: string }

/** An attempt that was counted, and which one in a row it is; `refused` = too many were wrong in a row. */
export type PasswordAttemptCount =
  | { readonly kind: 'taken'; readonly inARow: number }
  | { readonly kind: 'refused' | 'unknown' }

/** What is known of an attempt once it is over. */
export type AttemptOutcome =
  /** A known client has the right password: none of the failures before counts any more. */
  | 'known-client'
  /** A stranger has the right password, or it was not checked: only this attempt does not count. */
  | 'not-wrong'

/** A new password ends all portal sessions, a re-hashed one does not. */
export interface PasswordChange {
  readonly password: string
  readonly proof: PasswordProof | undefined
  readonly endsSessions: boolean
}

/** The access of a new account, and of one created before the portal was introduced. */
export const noPortalAccess: PortalAccess = {
  epoch: 1,
  password: undefined,
  failures: undefined,
  setupLink: undefined,
  emailLink: undefined,
}

export function parsePortalAccess(text: string): PortalAccess {
  // The text was written by JSON.stringify from this type, which leaves out what is undefined.
  return { ...noPortalAccess, ...(JSON.parse(text) as Partial<PortalAccess>) }
}
