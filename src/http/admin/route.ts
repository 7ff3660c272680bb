import { adminRole } from '../../accounts/account-input.ts'
import type { GatedRoute } from '../../routes/route.ts'
import { ownRouteName } from '../arrival.ts'

/** The admin API as a route like any other: an Admin, by either scheme. It leads to no upstream. */
export const adminRoute: GatedRoute = {
  name: ownRouteName,
  access: {
    kind: 'protected',
    schemes: ['secretKey', 'bearer'],
    isOptional: false,
    roles: new Set([adminRole]),
    verifiedOnly: false,
  },
  websocket: false,
  rateLimit: undefined,
}
