import type { AuditEntry } from './audit-entry.ts'

/** The second factor of an account: one-time codes by time (RFC 6238), and recovery codes. */
export interface SecondFactor {
  /** The sealed secret, base64url. */
  readonly sealed: string
  readonly enabledAt: number
  /** The time step of the last code that was used: no code of it, or before it, is accepted again. */
  readonly lastStep: number
  /** Digests of the recovery codes that are left. */
  readonly recoveryDigests: readonly string[]
}

/** What a sign-in uses up: the code of a time step, or a recovery code. */
export type SecondFactorUse =
  | { readonly kind: 'step'; readonly step: number }
  | { readonly kind: 'recovery'; readonly digest: string }

/** Second factors; each verb is refused where the account is not in the state that it needs. */
export interface SecondFactorStore {
  /** Enables it; false where it is enabled already, or there is no such account. */
  enableSecondFactor(accountId: string, factor: SecondFactor, audit?: AuditEntry): Promise<boolean>
  /** False where the code was used before, on any instance, or is none of the account's. */
  useSecondFactor(accountId: string, use: SecondFactorUse, audit?: AuditEntry): Promise<boolean>
  /** Replaces the recovery codes. */
  setRecoveryCodes(accountId: string, digests: readonly string[], audit?: AuditEntry): Promise<boolean>
  disableSecondFactor(accountId: string, audit?: AuditEntry): Promise<boolean>
}
