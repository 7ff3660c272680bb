import type { FastifyRequest } from 'fastify'
import { adminRole } from '../../accounts/account-input.ts'
import { authorize } from '../../auth/authorize.ts'
import { GatehouseError, sharedError } from '../../errors/gatehouse-error.ts'
import { arrivalOf } from '../../http/arrival.ts'
import { createGate, type GateOptions } from '../../http/gate.ts'
import { ownRouteName, principalOf, recordDecision } from '../../http/outcome.ts'
import type { GatedRoute } from '../../routes/route.ts'
import type { Actor } from '../../store/audit-entry.ts'
import type { Admission } from '../operation.ts'

/** The admin API as a route: for Admins, by either scheme. It has no upstream. */
export const adminRoute: GatedRoute = {
  name: ownRouteName,
  access: {
    kind: 'protected',
    schemes: ['secretKey', 'bearer'],
    isOptional: false,
    roles: new Set([adminRole]),
    scopes: undefined,
    verifiedOnly: false,
  },
  rateLimit: undefined,
}

export type AdmissionOptions = Omit<GateOptions<GatedRoute>, 'findRoute'>

/** Admits Admins, with the same checks, limits and metrics as a route. */
export function createAdmission(options: AdmissionOptions): Admission {
  const { authenticator } = options
  const { access } = adminRoute
  const gate = createGate({ ...options, findRoute: () => adminRoute })

  async function admit({ raw }: FastifyRequest): Promise<void> {
    const gateResult = await gate(arrivalOf(raw))
    if (gateResult instanceof GatehouseError) throw gateResult
  }

  async function admitAgain({ raw }: FastifyRequest): Promise<void> {
    const arrival = arrivalOf(raw)
    const decision = await authenticator.decide(access, arrival.fields.credentials, performance.now())
    if (decision.kind === 'refused') throw sharedError(decision.code)
    const code = authorize(access, decision.principal)
    if (code !== undefined) throw sharedError(code)
    recordDecision(arrival.outcome, decision)
  }

  return { admit, admitAgain }
}

/** The admitted Admin, as the audit log names them. */
export function adminActorOf({ raw }: FastifyRequest): Actor {
  const arrival = arrivalOf(raw)
  const principal = principalOf(arrival.outcome)
  if (!principal) throw new GatehouseError('internal')
  const { accountId: id, profile } = principal
  return { kind: 'account', channel: 'api', id, email: profile?.email ?? '', address: arrival.client.address }
}
