import type { PortalSession } from '../store/portal-access.ts'
import type { Account } from '../store/store.ts'
import type { Visitor } from '../store/visitor.ts'

/** Somebody who is signed in to the portal, looked at in the store at this request. */
export interface Viewer {
  readonly account: Account
  readonly session: PortalSession
}

/** A sign-in that was just made. */
export interface SignedIn extends Viewer {
  /** For the cookie, and nothing else: only its digest is kept. */
  readonly token: string
}

/**
 * Getting into the portal and out of it. What is signed in is looked up in the store at each request, never
 * in a cache: an end holds on every instance at once, and with the store out of reach it is 503
 * `store-unavailable`.
 */
export interface SignIn {
  /**
   * Starts a session. A wrong password, an unknown e-mail and an account without a password are one answer
   * after one time.
   * @param attempt its `address` has a place of its own in the queue of those whose password is checked
   * @throws GatehouseError `credentials-invalid`, `account-disabled` (for the right password),
   *   `sign-in-busy` (503), `too-many-failures` (429)
   */
  signIn(attempt: { readonly email: string; readonly password: string }, visitor: Visitor): Promise<SignedIn>
  /**
   * Sets the first password, or a new one, with the token of a set-up link, which is used up by it. All other
   * sessions of the account end.
   * @throws GatehouseError `link-invalid` (unknown, used, replaced by a later one, or older than 15 minutes),
   *   `request-invalid` (field `password`), `account-disabled`, `sign-in-busy`
   */
  redeemSetupLink(
    link: { readonly token: string; readonly password: string },
    visitor: Visitor,
  ): Promise<SignedIn>
  /**
   * Who is signed in with the token of a cookie; undefined = nobody, or not any more. Notes that they were
   * seen, at most once a minute.
   */
  find(token: string, visitor: Visitor): Promise<Viewer | undefined>
  /**
   * Whether it is still them at the keyboard.
   * @throws GatehouseError `credentials-invalid`, `sign-in-busy`, `too-many-failures`
   */
  confirm(viewer: Viewer, password: string, visitor: Visitor): Promise<void>
  /**
   * All sessions end; the new one is the caller's to go on with.
   * @throws GatehouseError `credentials-invalid` (the current one is wrong), `request-invalid` (field
   *   `password`), `sign-in-busy`, `too-many-failures`
   */
  changePassword(
    viewer: Viewer,
    change: { readonly current: string; readonly password: string },
    visitor: Visitor,
  ): Promise<SignedIn>
  signOut(viewer: Viewer, visitor: Visitor): Promise<void>
  /** Ends every portal session of the account, this one too. */
  signOutEverywhere(viewer: Viewer, visitor: Visitor): Promise<void>
}
