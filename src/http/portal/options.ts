import type { ActsOf } from '../../accounts/acts.ts'
import type { EmailVerification } from '../../accounts/profile.ts'
import type { SignIn } from '../../auth/sign-in.ts'
import type { IdentityHeaders } from '../../proxy/identity.ts'
import type { RouteOptions } from '../../routes/compile.ts'
import type { PortalCookie } from './cookie.ts'

/** What the pages of the portal are made with. */
export interface PortalOptions {
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
  /** For trying one: as the config describes them. */
  readonly routes: readonly RouteOptions[]
  readonly identityHeaders: IdentityHeaders
  /** The URL that this gateway listens on, once it does. */
  gatewayUrl(): string
}
