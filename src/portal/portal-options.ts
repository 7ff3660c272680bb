import type { AccountActionsOf } from '../accounts/account-actions.ts'
import type { EmailVerification } from '../accounts/profile.ts'
import type { RateLimiter } from '../auth/rate-limiter.ts'
import type { SignIn } from '../auth/sign-in.ts'
import type { Clock } from '../platform/clock.ts'
import type { IdentityHeaders } from '../proxy/identity-headers.ts'
import type { RouteOptions } from '../routes/compile.ts'
import type { PortalCookie } from './portal-cookie.ts'

/** What the portal's pages need. */
export interface PortalOptions {
  /** The path of the portal, such as `/portal`, without a trailing slash; everything below it belongs to the portal. */
  readonly path: string
  /** The public origin, for the code examples. */
  readonly publicOrigin: string
  readonly signIn: SignIn
  /** For the actions of a viewer: `actionsOf(actorOf(viewer, visitor))`. */
  readonly actionsOf: AccountActionsOf
  readonly emailVerification: EmailVerification
  /** Limits the actions of an account. */
  readonly limiter: Pick<RateLimiter, 'take'>
  readonly cookie: PortalCookie
  readonly clock: Clock
  /** The routes as configured, for *Try it*. */
  readonly routes: readonly RouteOptions[]
  readonly identityHeaders: IdentityHeaders
  /** The roles that forms suggest. */
  readonly roles: readonly string[]
  /** The URL of this gateway's listener; to be called once it listens. */
  gatewayUrl(): string
}
