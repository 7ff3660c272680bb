import type { ActsOf } from '../accounts/acts.ts'
import type { EmailVerification } from '../accounts/profile.ts'
import type { SignIn } from '../auth/sign-in.ts'
import type { PortalCookie } from './portal-cookie.ts'

/** What the pages of the portal need. */
export interface PortalScope {
  /** The path of the portal, such as `/portal`; everything below it belongs to the portal. Without a slash at the end. */
  readonly path: string
  /** The origin that clients see, for the commands to copy. */
  readonly publicOrigin: string
  readonly signIn: SignIn
  /** Gives the acts of a viewer: `actsOf(actorOf(viewer, visitor))`. */
  readonly actsOf: ActsOf
  readonly emailVerification: EmailVerification
  readonly cookie: PortalCookie
  /** Milliseconds since 1970. */
  readonly clock: () => number
}
