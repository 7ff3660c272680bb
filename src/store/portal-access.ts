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
