import type { PortalAccess } from './portal-access.ts'

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
  /** Counts how often all sessions were ended: a session of an earlier epoch is invalid. */
  readonly sessionEpoch: number
  /** Counts how often the role has changed, from 1: an access token of an earlier epoch is invalid. */
  readonly roleEpoch: number
  readonly secretKey: StoredKey
  /** The secret key before the last reset, within its grace period. */
  readonly previousSecretKey: { readonly digest: Uint8Array; readonly validUntil: number } | undefined
  readonly apiKey: StoredKey
  readonly portal: PortalAccess
}

export interface StoredKey {
  /** SHA-256 of the key. */
  readonly digest: Uint8Array
  /** The sealed key, to be shown again; undefined where none is kept. */
  readonly sealed: Uint8Array | undefined
  readonly createdAt: number
}

/** The form in which e-mails are compared: without case and surrounding space. */
export function emailKey(email: string): string {
  return email.trim().normalize('NFC').toLowerCase()
}
