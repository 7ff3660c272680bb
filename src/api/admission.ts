import type { FastifyRequest } from 'fastify'
import { type Arrival, credentialsOf } from '#gateway/arrival/arrival.ts'
import { arrivalOf, type EndpointExchange } from '#gateway/arrival/endpoint-arrival.ts'
import { principalOf, recordDecision } from '#gateway/arrival/outcome.ts'
import { type CheckAmbientKey, createAmbientKeyCheck } from '#gateway/browser/ambient-credentials.ts'
import { createGate, type GateOptions } from '#gateway/gate/gate.ts'
import { isAdminPath, revocationsPath } from '#gateway/routes/own-operations.ts'
import { type GatedRoute, ownRouteName } from '#gateway/routes/route.ts'
import { authorizeFrom } from '#identity/authorize.ts'
import { GatehouseError, sharedError } from '#platform/errors/gatehouse-error.ts'
import { monotonicClock } from '#platform/time.ts'
import { adminRole } from '#store/accounts.ts'
import type { AccountActor } from '#store/audit-entry.ts'

/** The admin API as a route: for Admins, by either scheme. It has no upstream. */
export const adminRoute = {
  name: ownRouteName,
  access: {
    kind: 'protected',
    leavesAuthorization: false,
    schemes: ['secretKey', 'bearer'],
    isOptional: false,
    roles: new Set([adminRole]),
    scopes: undefined,
    verifiedOnly: false,
    // No tokens of foreign issuers: these must have no power over our accounts.
    issuers: undefined,
  },
  rateLimit: undefined,
} as const satisfies GatedRoute

/**
 * The access rules for what an account may ask about itself, as a route: by either scheme, with a key or token that has
 * no scopes.
 */
export const ownAccountRoute: GatedRoute = {
  ...adminRoute,
  access: { ...adminRoute.access, roles: undefined },
}

/** The access rules for callers that may introspect tokens (`tokens.introspection`), as a route. */
export function introspectionRoute({ roles, scopes }: IntrospectionRight): GatedRoute {
  const named = scopes.length > 0 ? scopes : undefined
  return { ...adminRoute, access: { ...adminRoute.access, roles: new Set(roles), scopes: named } }
}

export interface IntrospectionRight {
  readonly roles: readonly string[]
  readonly scopes: readonly string[]
}

/** The route whose access rules apply to this gated path of the gateway. */
export function gatedRouteOf(path: string, introspection: IntrospectionRight): GatedRoute {
  if (isAdminPath(path)) return adminRoute
  return path === revocationsPath ? introspectionRoute(introspection) : ownAccountRoute
}

type EndpointArrival = Arrival<EndpointExchange>

/** The parts of a gate that endpoints share with routes. */
export type EndpointGate = Omit<
  GateOptions<GatedRoute, EndpointArrival>,
  'findRoute' | 'takePlanLimits' | 'checkAmbientKey' | 'readKeyHeaders' | 'readAccessCookie'
>

/**
 * Refuses pages of `cors.origins` too, as with the refresh cookie: permission to call the gateway is not permission to
 * use keys that the browser has remembered for it.
 */
export function createOwnAmbientKeyCheck(publicOrigin: string): CheckAmbientKey {
  return createAmbientKeyCheck({ publicOrigin, origins: [] })
}

/** Decides who may call. */
export interface Admission {
  /** Decides before a byte of the body is read. @throws GatehouseError */
  admit(request: FastifyRequest): Promise<void>
  /**
   * Decides again once the body has arrived: the caller may have been disabled, or given another role, in the meantime.
   * Nothing is counted twice. @throws GatehouseError
   */
  admitAgain(request: FastifyRequest): Promise<void>
}

/**
 * Admits the callers of some endpoints, with the same checks, limits and metrics as a route.
 * @param publicOrigin the origin of `publicUrl`
 */
export function createAdmission(parts: EndpointGate, publicOrigin: string, route: GatedRoute): Admission {
  const { authenticator } = parts
  const { access } = route
  const gate = createGate<GatedRoute, EndpointArrival>({
    ...parts,
    findRoute: () => route,
    checkAmbientKey: createOwnAmbientKeyCheck(publicOrigin),
    readAccessCookie: undefined,
    readKeyHeaders: () => {
      throw new Error('there is no backend to leave Authorization to')
    },
    // Quotas of plans apply to routes only: an account that has used one up can still ask how much is left, and an
    // Admin can still give it another plan.
    takePlanLimits: () => undefined,
  })

  async function admit({ raw }: FastifyRequest): Promise<void> {
    const gateResult = await gate(arrivalOf(raw))
    if (gateResult instanceof GatehouseError) throw gateResult
  }

  async function admitAgain({ raw }: FastifyRequest): Promise<void> {
    const arrival = arrivalOf(raw)
    const decision = await authenticator.decide(access, credentialsOf(arrival), monotonicClock())
    recordDecision(arrival.outcome, decision)
    if (decision.kind === 'refused') throw sharedError(decision.code)
    const code = authorizeFrom(arrival.client.address, access, decision.principal)
    if (code !== undefined) throw sharedError(code)
  }

  return { admit, admitAgain }
}

/** The admitted caller, as the audit log names them. */
export function actorOf({ raw }: FastifyRequest): AccountActor {
  const arrival = arrivalOf(raw)
  const principal = principalOf(arrival.outcome)
  if (!principal) throw new GatehouseError('internal')
  const { accountId: id, profile } = principal
  return { kind: 'account', channel: 'api', id, email: profile?.email ?? '', address: arrival.client.address }
}
