import type { FastifyRequest } from 'fastify'
import { GatehouseError } from '../../errors.ts'
import type { Actor } from '../../store/audit.ts'
import { arrivalOf, destinationOf } from '../arrival.ts'
import { createGate, type GateOptions } from '../gate.ts'
import { adminRoute } from './route.ts'

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
