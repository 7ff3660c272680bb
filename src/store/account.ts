import { hasBeenUsed, type PortalAccess } from './portal-access.ts'
import type { SecretKey, StoredKey } from './secret-keys.ts'

export interface Account {
  readonly id: string
  readonly email: string
  readonly firstName: string
  readonly lastName: string
  readonly role: string
  readonly isVerified: boolean
  readonly isDisabled: boolean
  readonly createdAt: number
  /** Counts every change of the account. */
  readonly revision: number
  /** Counts how many times all sessions were ended: a session of an earlier epoch is invalid. */
  readonly sessionEpoch: number
  /** Counts the roles that the account has had, from 1: an access token of an earlier epoch is invalid. */
  readonly roleEpoch: number
  /**
   * In the order in which they were made. During the overlap of a reset there are two called `default`, of which the
   * earlier one has `revokedAt`.
   */
  readonly secretKeys: readonly SecretKey[]
  readonly apiKey: StoredKey
  /** The name of its plan; undefined = none, so its use is not limited. */
  readonly plan: string | undefined
  /** The name of the `gatehouse apply` state that lists it; absent = none does. */
  readonly managedBy?: string | undefined
  readonly portal: PortalAccess
}

/** The role that may manage every account. */
export const adminRole = 'Admin'

/** Whether an account can manage every account now. A store that has such an account always keeps one. */
export function isActiveAdmin({ role, isDisabled }: Pick<Account, 'role' | 'isDisabled'>): boolean {
  return role === adminRole && !isDisabled
}

/**
 * Whether anybody but the person with its e-mail may have a password, a session or a key of the account, in which case
 * its first link with a person requires a proof. A person at another provider is known to have had the e-mail, as long
 * as it is verified.
 */
export function mayBeAnothers({ portal, isVerified }: Pick<Account, 'portal' | 'isVerified'>): boolean {
  return portal.identities.length === 0 ? hasBeenUsed(portal) : !isVerified
}

/** The form in which e-mails are compared: without case and surrounding space. */
export function emailKey(email: string): string {
  return email.trim().normalize('NFC').toLowerCase()
}
