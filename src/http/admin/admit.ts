import type { FastifyRequest } from 'fastify'
import { authorize } from '../../auth/authorize.ts'
import { GatehouseError, refusalOf } from '../../errors.ts'
import type { Actor } from '../../store/audit.ts'
import { arrivalOf, destinationOf } from '../arrival.ts'
import { createGate, type GateOptions } from '../gate.ts'
import type { Admission } from '../operation.ts'
import { adminRoute } from './route.ts'

export type AdmissionOptions = Omit<GateOptions<undefined>, 'table'>

/** Lets Admins in, with the same checks, limits and metrics as a route. */
export function createAdmission(options: AdmissionOptions): Admission {
  const { authenticator } = options
  const { access } = adminRoute
  const table = { routes: [adminRoute], match: () => ({ kind: 'route', route: adminRoute }) as const }
  const gate = createGate({ ...options, table })

  async function admit({ raw }: FastifyRequest): Promise<void> {
    const passage = await gate(arrivalOf(raw), destinationOf(raw))
    if (passage instanceof GatehouseError) throw passage
  }

  async function admitAgain({ raw }: FastifyRequest): Promise<void> {
    const { fields, outcome } = arrivalOf(raw)
    const decision = await authenticator.decide(access, fields.credentials)
    if (decision.kind === 'refused') throw refusalOf(decision.code)
    const code = authorize(access, decision.principal)
    if (code !== undefined) throw refusalOf(code)
    outcome.principal = decision.principal
  }

  return { admit, admitAgain }
}

/** Who was let in, as the audit log names them. */
export function adminOf({ raw }: FastifyRequest): Actor {
  const { client, outcome } = arrivalOf(raw)
  const { principal } = outcome
  if (!principal) throw new GatehouseError('internal')
  const { accountId: id, profile } = principal
  return { kind: 'account', channel: 'api', id, email: profile?.email ?? '', address: client.address }
}
