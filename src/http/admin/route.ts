import { adminRole } from '../../accounts/account-input.ts'
import type { Route } from '../../routes/route.ts'
import { ownRouteName } from '../arrival.ts'

/** The admin API as a route like any other: an Admin, by either scheme. It leads to no upstream. */
export const adminRoute: Route<undefined> = {
  name: ownRouteName,
  host: undefined,
  prefix: '/api/v1/admin',
  depth: 3,
  methods: undefined,
  access: {
    kind: 'protected',
    schemes: ['secretKey', 'bearer'],
    isOptional: false,
    roles: new Set([adminRole]),
    verifiedOnly: false,
  },
  upstream: undefined,
  stripPrefix: false,
  websocket: false,
  passesEncodedSlash: false,
  forwardsCredentials: false,
  rateLimit: undefined,
  bodyBytesMax: 0,
  responseTimeoutMs: 0,
}
