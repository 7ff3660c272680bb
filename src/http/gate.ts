import type { KeyUses } from '../accounts/key-uses.ts'
import type { Authenticator } from '../auth/authenticator.ts'
import { authorize } from '../auth/authorize.ts'
import type { Decision } from '../auth/decision.ts'
import { assertWithinRate } from '../auth/limits.ts'
import type { Limiter } from '../auth/rate-limit.ts'
import { type Code, GatehouseError, refusalOf } from '../errors.ts'
import type { Count } from '../metrics/counter.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { Route } from '../routes/route.ts'
import type { RouteTable } from '../routes/table.ts'
import type { Rate } from '../store/store.ts'
import type { Arrival, Destination } from './arrival.ts'
import { countLimited, createRefuse } from './refuse.ts'
import { asksForWebSocket } from './upgrade.ts'

export interface GateOptions<Upstream> {
  readonly table: RouteTable<Upstream>
  readonly authenticator: Authenticator
  readonly limiter: Limiter
  /** Wrong credentials that one client address may send. */
  readonly failures: Rate
  readonly metrics: Metrics
  /** Told of every secret key that let somebody in. */
  readonly keyUses: Pick<KeyUses, 'note'>
}

/**
 * Decides about a request before a byte of its body is read: where it goes, who is calling, whether that may
 * pass, how often. Answers at once where all is known.
 * @throws GatehouseError, at once or as a rejection, for whatever keeps it from passing
 */
export type Gate<Upstream> = (
  arrival: Arrival,
  destination: Destination,
) => Route<Upstream> | Promise<Route<Upstream>>

type Allowed = Extract<Decision, { readonly kind: 'allowed' }>

export function createGate<Upstream>(options: GateOptions<Upstream>): Gate<Upstream> {
  const { table, authenticator, limiter, metrics, keyUses } = options
  const refuse = createRefuse(options)
  const counts = {
    none: countsOf(metrics, 'none', 'anonymous'),
    secretKey: countsOf(metrics, 'secretKey', 'ok'),
    bearer: countsOf(metrics, 'bearer', 'ok'),
  }

  /** @param isConfirmed whether it was decided by what is true now, not by what was kept */
  function pass(
    route: Route<Upstream>,
    arrival: Arrival,
    decision: Decision,
    isConfirmed = false,
  ): Route<Upstream> | Promise<Route<Upstream>> {
    const { outcome, client } = arrival
    outcome.scheme = decision.scheme
    outcome.principal = decision.kind === 'allowed' ? decision.principal : undefined
    if (decision.kind === 'refused') {
      report(decision, decision.code)
      return refuse(decision, arrival)
    }
    noteUse(arrival, decision)
    const code = authorize(route.access, outcome.principal)
    if (code !== undefined && !isConfirmed) return passConfirmed(route, arrival, decision)
    report(decision, code)
    if (code !== undefined) throw refusalOf(code)
    if (!route.rateLimit) return route
    const caller = { principal: outcome.principal, address: client.address }
    return assertWithinRate(limiter, route.name, route.rateLimit, caller).then(
      () => route,
      (error: unknown) => countLimited(metrics, route.name, error),
    )
  }

  /** Somebody who may not pass by what is known may have got another role since, or be verified. */
  async function passConfirmed(
    route: Route<Upstream>,
    arrival: Arrival,
    decision: Decision,
  ): Promise<Route<Upstream>> {
    const isUpToDate = await (decision.scheme ? authenticator.confirm() : undefined)?.then(
      () => true,
      () => false,
    )
    const { credentials } = arrival.fields
    const latest = isUpToDate ? await authenticator.decide(route.access, credentials) : decision
    return pass(route, arrival, latest, true)
  }

  function noteUse({ fields, client }: Arrival, { principal }: Allowed): void {
    if (principal === undefined || fields.credentials.kind !== 'secretKey') return
    keyUses.note(principal.accountId, fields.credentials.text, client.address, 'secretKey')
  }

  function report({ scheme }: Decision, code: Code | undefined): void {
    const ofScheme = counts[scheme ?? 'none']
    const count = code === undefined ? ofScheme.allowed() : ofScheme.refused(code)
    count.value++
  }

  return function gate(arrival, destination) {
    const route = findRoute(table, arrival, destination)
    arrival.outcome.route = route.name
    arrival.outcome.access = route.access
    // Asked before it is decided: what comes behind an upgrade that is refused is no request.
    if (route.websocket && asksForWebSocket(arrival.head)) arrival.connection.endAfterAnswer()
    const decision = authenticator.decide(route.access, arrival.fields.credentials)
    return decision instanceof Promise
      ? decision.then((settled) => pass(route, arrival, settled))
      : pass(route, arrival, decision)
  }
}

/** The series of one scheme, each found once, when it is first counted in. */
function countsOf(metrics: Metrics, scheme: string, reason: string) {
  let allowed: Count | undefined
  const refused = new Map<Code, Count>()
  return {
    allowed: (): Count => {
      allowed ??= metrics.decisions.of(scheme, 'allowed', reason)
      return allowed
    },
    refused: (code: Code): Count => {
      const known = refused.get(code)
      if (known) return known
      const count = metrics.decisions.of(scheme, 'refused', code)
      refused.set(code, count)
      return count
    },
  }
}

function findRoute<Upstream>(
  table: RouteTable<Upstream>,
  { head, outcome }: Arrival,
  { hostName, target }: Destination,
): Route<Upstream> {
  const match = table.match(hostName, target, head.method)
  switch (match.kind) {
    case 'route':
      return match.route
    case 'none':
      throw new GatehouseError('route-not-found')
    case 'ambiguous':
      throw new GatehouseError('path-ambiguous')
    case 'method':
      outcome.route = match.only?.name ?? outcome.route
      throw new GatehouseError('method-not-allowed', { allow: match.allowed })
    default:
      return match satisfies never
  }
}
