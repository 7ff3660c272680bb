import type { FastifyRequest } from 'fastify'
import { adminRole } from '../../accounts/account-input.ts'
import { GatehouseError } from '../../errors.ts'
import type { Route } from '../../routes/route.ts'
import type { Actor } from '../../store/audit.ts'
import { arrivalOf, destinationOf } from '../arrival.ts'
import { createGate, type GateOptions } from '../gate.ts'

/** The admin API as a route like any other: an Admin, by either scheme. It leads to no upstream. */
const adminRoute: Route<undefined> = {
  name: '_gateway',
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

export type AdmissionOptions = Omit<GateOptions<undefined>, 'table'>

/** Lets Admins in, with the same checks, limits and metrics as a route. @throws GatehouseError as a gate does */
export function createAdmission(options: AdmissionOptions): (request: FastifyRequest) => Promise<void> {
  const table = { routes: [adminRoute], match: () => ({ kind: 'route', route: adminRoute }) as const }
  const gate = createGate({ ...options, table })
  return async ({ raw }) => {
    const passage = await gate(arrivalOf(raw), destinationOf(raw))
    if (passage instanceof GatehouseError) throw passage
  }
}

/** Who was let in, as the audit log names them. */
export function adminOf({ raw }: FastifyRequest): Actor {
  const { client, outcome } = arrivalOf(raw)
  const { principal } = outcome
  if (!principal) throw new GatehouseError('internal')
  const { accountId: id, profile } = principal
  return { kind: 'account', channel: 'api', id, email: profile?.email ?? '', address: client.address }
}
