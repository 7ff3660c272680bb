import type { AccountActionsOf } from '../accounts/account-actions.ts'
import type { EmailVerification } from '../accounts/profile.ts'
import type { RateLimiter } from '../auth/rate-limiter.ts'
import type { SignIn } from '../auth/sign-in.ts'
import type { Clock } from '../platform/clock.ts'
import type { IdentityHeaders } from '../proxy/identity-headers.ts'
import type { RouteOptions } from '../routes/compile.ts'
import type { PortalCookie } from './portal-cookie.ts'

/** What the pages of the portal need. */
export interface PortalOptions {
  /** The path of the portal, such as `/portal`, without a slash at the end; everything below it is its own. */
  readonly path: string
  /** The origin that clients see, for the commands to copy. */
  readonly publicOrigin: string
  readonly signIn: SignIn
  /** For the acts of a viewer: `actsOf(actorOf(viewer, visitor))`. */
  readonly actionsOf: AccountActionsOf
  readonly emailVerification: EmailVerification
  /** Counts what an account does. */
  readonly limiter: Pick<RateLimiter, 'take'>
  readonly cookie: PortalCookie
  readonly clock: Clock
  /** The routes as the config describes them, to be tried out. */
  readonly routes: readonly RouteOptions[]
  readonly identityHeaders: IdentityHeaders
  /** The roles that forms offer. */
  readonly roles: readonly string[]
  /** The URL that this gateway listens on, once it does. */
  gatewayUrl(): string
}
