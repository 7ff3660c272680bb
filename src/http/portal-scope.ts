import type { ActsOf } from '../accounts/acts.ts'
import type { EmailVerification } from '../accounts/profile.ts'
import type { SignIn } from '../auth/sign-in.ts'
import type { PortalCookie } from './portal-cookie.ts'

/** What the pages of the portal are made with. */
export interface PortalScope {
  /** Where the portal is: `/portal`; everything below it is its own. Without a slash at the end. */
  readonly path: string
  /** Origin that clients see, for the lines to copy. */
  readonly publicOrigin: string
  readonly signIn: SignIn
  /** For the acts of a viewer: `actsOf(actorOf(viewer, visitor))`. */
  readonly actsOf: ActsOf
  readonly emailVerification: EmailVerification
  readonly cookie: PortalCookie
  /** Milliseconds since 1970. */
  readonly clock: () => number
}
