import type { IdentityHeaders } from '../../proxy/identity.ts'
import type { RouteOptions } from '../../routes/compile.ts'
import type { PortalScope } from '../portal-scope.ts'

export interface PortalOptions extends PortalScope {
  /** For trying one: as the config describes them. */
  readonly routes: readonly RouteOptions[]
  readonly identityHeaders: IdentityHeaders
  /** Where this gateway itself listens, once it does. */
  gatewayUrl(): string
}
