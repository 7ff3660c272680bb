import type { Account } from '../store/store.ts'

/** What somebody may change of their own account, and the proof of their e-mail. */
export interface Profile {
  /** @throws GatehouseError `request-invalid` (fields `firstName`, `lastName`), `account-not-found` */
  rename(id: string, names: { readonly firstName: string; readonly lastName: string }): Promise<Account>
  /** Whether verifications can be sent at all (config `mail`); if not an Admin verifies, and changes e-mails. */
  readonly canSend: boolean
  /**
   * Sends a link that verifies an e-mail: the one the account has, or the one it is to get. The account
   * changes only when the link is used, and only the last link works, for an hour.
   * @throws GatehouseError `request-invalid` (field `email`), `account-exists`, `mail-unavailable` (503: not
   *   configured, or the server did not take it), `rate-limited` (3 in an hour for an account)
   */
  sendVerification(id: string, email: string): Promise<void>
}

/** Using the link: who opens it need not be signed in. */
export interface EmailVerification {
  /**
   * Uses a link up; the account has the e-mail from now on, verified.
   * @throws GatehouseError `link-invalid`, `account-exists` (somebody else has taken it meanwhile)
   */
  verify(token: string): Promise<Account>
}
