import { listChange } from '#platform/text.ts'
import type { EpochMs } from '#platform/time.ts'

/** An account's access to the portal. Stored with the account; digests only. */
export interface PortalAccess {
  /** Counts how many times all portal sessions were ended: a session of an earlier epoch is invalid. */
  readonly epoch: number
  /** Argon2id in PHC form, keyed with the sealing key; undefined = no password has been set. */
  readonly password: string | undefined
  /** undefined = none. */
  readonly failures: PasswordFailures | undefined
  /** The last set-up link created, until it is redeemed. */
  readonly setupLink: OneTimeLink | undefined
  /** The last link sent after a forgotten password, until it is redeemed. */
  readonly resetLink: OneTimeLink | undefined
  /** The networks that the account was signed in to from, the latest first; at most `signInNetworksMax`. */
  readonly networks: readonly string[]
  /** undefined = the password is enough. */
  readonly secondFactor: SecondFactor | undefined
  /** The last verification link sent, until it is redeemed. */
  readonly emailLink: EmailLink | undefined
  /** The owner's identities at OpenID providers, one at each, the latest last; at most `identitiesMax`. */
  readonly identities: readonly ExternalIdentity[]
  /** The language that the owner has chosen, such as `de`; absent = none. */
  readonly language?: string | undefined
  /** When the last challenge was made that a passkey has answered: it and earlier ones are no longer accepted. */
  readonly passkeyChallengeAt?: EpochMs | undefined
}

/** The second factor of an account: an authenticator app (RFC 6238), passkeys or both, and recovery codes. */
export interface SecondFactor {
  /** The sealed secret of the app, base64url; undefined = no app. */
  readonly sealed?: string | undefined
  readonly enabledAt: EpochMs
  /** The time step of the last code that was used: codes of it, or of earlier steps, are no longer accepted. */
  readonly lastStep: number
  /** Digests of the recovery codes that are left. */
  readonly recoveryDigests: readonly string[]
  /** In the order in which they were added. Absent = none. */
  readonly passkeys?: readonly Passkey[]
}

/** A passkey: the public half of a key pair that an authenticator keeps (WebAuthn). */
export interface Passkey {
  /** The credential ID, base64url. */
  readonly id: string
  /** COSE, base64url. */
  readonly publicKey: string
  /** How often the authenticator has signed, if it counts; 0 = it does not. */
  readonly counter: number
  /** How the browser reaches it again, such as `usb` or `internal`. */
  readonly transports: readonly string[]
  readonly name: string
  readonly createdAt: EpochMs
  /** undefined = not yet. */
  readonly usedAt?: EpochMs | undefined
}

export function passkeysOf({ secondFactor }: Pick<PortalAccess, 'secondFactor'>): readonly Passkey[] {
  return secondFactor?.passkeys ?? []
}

/** Whether the password alone signs in; false without one. */
export function isPasswordEnough({ password, secondFactor }: PortalAccess): boolean {
  return password !== undefined && secondFactor === undefined
}

/**
 * Whether somebody may have used the account in the portal, and so knows or has made what is only for its owner. Never
 * wrongly false: a password and a link with a provider end only together with the sessions of their epoch.
 */
export function hasBeenUsed({ password, identities, epoch }: PortalAccess): boolean {
  return password !== undefined || identities.length > 0 || epoch > noPortalAccess.epoch
}

/** A person at an OpenID provider, whom only both together identify, permanently (OpenID Connect Core 1.0, 5.7). */
export interface ExternalIdentity {
  /** The URL of the provider. */
  readonly issuer: string
  readonly subject: string
}

/** Maximum number of identities; those at providers that are no longer in the config count too. */
export const identitiesMax = 10

/** The key under which a person's account is found, which is unambiguous as a URL contains no space. */
export function identityKeyOf({ issuer, subject }: ExternalIdentity): string {
  return `${issuer} ${subject}`
}

/** What a change of an account means for the index of people: keys of `identityKeyOf`. */
export function identityChange(before: HasPortal, after: HasPortal) {
  return listChange(identityKeysOf(before), identityKeysOf(after))
}

interface HasPortal {
  readonly portal: Pick<PortalAccess, 'identities'>
}

export function identityKeysOf({ portal }: HasPortal): readonly string[] {
  return portal.identities.map(identityKeyOf)
}

export interface OneTimeLink {
  /** SHA-256 of its token, base64url. */
  readonly digest: string
  readonly expiresAt: EpochMs
  /** The e-mail that it was sent to: it only works while the account has that e-mail. Absent = it was not sent. */
  readonly sentTo?: string | undefined
}

/** A link that proves that its user reads this address. */
export interface EmailLink extends OneTimeLink {
  /** The account's e-mail once the link is redeemed: the current one, or a new one. */
  readonly email: string
}

/** The access of a new account, and of one created before the portal was introduced. */
export const noPortalAccess: PortalAccess = {
  epoch: 1,
  password: undefined,
  failures: undefined,
  setupLink: undefined,
  resetLink: undefined,
  networks: [],
  secondFactor: undefined,
  emailLink: undefined,
  identities: [],
}

/** As it is stored, without what is undefined; before there were several providers, with one identity. */
export interface PortalRecord extends Partial<PortalAccess> {
  readonly identity?: ExternalIdentity
}

export function portalAccessOf({ identity, ...written }: PortalRecord = {}): PortalAccess {
  return { ...noPortalAccess, ...(identity && { identities: [identity] }), ...written }
}

export function parsePortalAccess(text: string): PortalAccess {
  // The text was written by JSON.stringify from this type.
  return portalAccessOf(JSON.parse(text) as PortalRecord)
}

/** Consecutive wrong passwords and codes of an account, since a known client signed in or a new password ended them. */
export interface PasswordFailures {
  readonly total: number
  /** The failures of each known client, by its ID. */
  readonly ofClients: Readonly<Record<string, number>>
}

/**
 * At most 100 consecutive failures (NIST SP 800-63B 3.2.2). Unknown clients may only use a part of them, so that the
 * rest is left to known clients, each with a budget of its own: nobody else can lock users out of a browser that they
 * have used.
 */
export const passwordFailuresMax = { total: 100, byStrangers: 80, ofClient: 10 } as const

/** How many known clients are distinguished; further ones count as unknown. */
const clientsMax = 32

const none: PasswordFailures = { total: 0, ofClients: {} }

/**
 * Counts an attempt before its password is checked, so that concurrent attempts cannot exceed the limit.
 * @param client the ID of a known client; undefined = unknown, as is a client that has used up its budget
 * @returns undefined if the password must not be checked at all
 */
export function withAttempt(
  { total, ofClients }: PasswordFailures = none,
  client: string | undefined,
): PasswordFailures | undefined {
  const { total: totalMax, byStrangers, ofClient } = passwordFailuresMax
  if (client !== undefined && total < totalMax) {
    const own = ofClients[client] ?? 0
    const hasPlace = own > 0 || Object.keys(ofClients).length < clientsMax
    if (hasPlace && own < ofClient)
      return { total: total + 1, ofClients: { ...ofClients, [client]: own + 1 } }
  }
  return total < byStrangers ? { total: total + 1, ofClients } : undefined
}

/**
 * The failures without an attempt that was not a failure: its password was right, or was not checked.
 * @param client the client that it was counted for
 */
export function withoutAttempt(
  { total, ofClients }: PasswordFailures = none,
  client: string | undefined,
): PasswordFailures {
  const left = Math.max(0, total - 1)
  const own = client === undefined ? 0 : (ofClients[client] ?? 0)
  if (client === undefined || own === 0) return { total: left, ofClients }
  const { [client]: _, ...others } = ofClients
  return { total: left, ofClients: own > 1 ? { ...others, [client]: own - 1 } : others }
}
