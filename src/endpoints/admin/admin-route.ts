import { adminRole } from '../../accounts/account-input.ts'
import { ownRouteName } from '../../http/outcome.ts'
import type { GatedRoute } from '../../routes/route.ts'

/** The admin API as a route: for Admins, by either scheme. It has no upstream. */
export const adminRoute: GatedRoute = {
  name: ownRouteName,
  access: {
    kind: 'protected',
    schemes: ['secretKey', 'bearer'],
    isOptional: false,
    roles: new Set([adminRole]),
    verifiedOnly: false,
  },
  rateLimit: undefined,
}
