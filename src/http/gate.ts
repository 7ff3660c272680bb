import type { KeyUses } from '../accounts/key-uses.ts'
import type { Authenticator } from '../auth/authenticator.ts'
import { authorize } from '../auth/authorize.ts'
import type { Decision } from '../auth/decision.ts'
import { takeRate } from '../auth/limits.ts'
import type { Limiter } from '../auth/rate-limit.ts'
import { GatehouseError, refusalOf } from '../errors.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { GatedRoute, RateLimit, SchemeName } from '../routes/route.ts'
import type { Rate } from '../store/store.ts'
import type { Arrival, Destination } from './arrival.ts'
import { createDecisionCounts } from './decision-counts.ts'
import { createRefuse } from './refuse.ts'
import { asksForWebSocket } from './upgrade.ts'

export interface GateOptions<Passable extends GatedRoute> {
  /** Where a request goes, or why it goes nowhere. */
  readonly findRoute: (arrival: Arrival, destination: Destination) => Passage<Passable>
  readonly authenticator: Authenticator
  readonly limiter: Limiter
  /** How many wrong credentials one client address may send. */
  readonly failures: Rate
  readonly metrics: Metrics
  /** Told of every secret key that was right, even if the request is then refused with 403 or 429. */
  readonly keyUses: Pick<KeyUses, 'note'>
}

/** Where a request may go, or what it is refused with. */
export type Passage<Passable extends GatedRoute> = Passable | GatehouseError

/**
 * Decides about a request before a byte of its body is read: where it goes, who is calling, whether and how often they
 * may pass. Returns at once where all is known. A refusal is returned, not thrown: a throw takes as long as all the
 * rest, and functions that end with one are never compiled.
 * @throws GatehouseError `store-unavailable`, at once or as a rejection, where it cannot be decided
 */
export type Gate<Passable extends GatedRoute> = (
  arrival: Arrival,
  destination: Destination,
) => Passage<Passable> | Promise<Passage<Passable>>

/** How long the use of a key is not noted again while the same head comes from the same address. */
const notedMs = 1_000

type Allowed = Extract<Decision, { readonly kind: 'allowed' }>

export function createGate<Passable extends GatedRoute>(options: GateOptions<Passable>): Gate<Passable> {
  const { findRoute, authenticator, limiter, metrics, keyUses } = options
  const refuse = createRefuse(options)
  const count = createDecisionCounts(metrics)

  /** @param isConfirmed whether the decision is based on the store's present state, not on the cache */
  function pass(
    route: Passable,
    arrival: Arrival,
    decision: Decision,
    isConfirmed = false,
  ): Passage<Passable> | Promise<Passage<Passable>> {
    arrival.decision = decision
    if (decision.kind === 'refused') {
      arrival.outcome.reason = decision.reason
      const error = refuse(decision, arrival)
      return error instanceof Promise
        ? error.then((settled) => counted(decision.scheme, settled))
        : counted(decision.scheme, error)
    }
    noteUse(arrival, decision)
    const code = authorize(route.access, decision.principal)
    if (code !== undefined && !isConfirmed) return passConfirmed(route, arrival, decision)
    if (code !== undefined) return counted(decision.scheme, refusalOf(code))
    if (route.rateLimit) return passRated(route, route.rateLimit, arrival, decision)
    count(decision.scheme, undefined)
    return route
  }

  async function passRated(
    route: Passable,
    rateLimit: RateLimit,
    { client: { address } }: Arrival,
    { scheme, principal }: Allowed,
  ): Promise<Passage<Passable>> {
    const excess = await takeRate(limiter, route.name, rateLimit, { principal, address })
    if (excess) return counted(scheme, excess)
    count(scheme, undefined)
    return route
  }

  /** Counts a refusal by what the client is told. */
  function counted(scheme: SchemeName | undefined, error: GatehouseError): GatehouseError {
    count(scheme, error.code)
    return error
  }

  /** A caller refused by what the cache holds may have got another role since, or have been verified. */
  async function passConfirmed(
    route: Passable,
    arrival: Arrival,
    decision: Decision,
  ): Promise<Passage<Passable>> {
    const isUpToDate = await authenticator.confirm().then(
      () => true,
      () => false,
    )
    const { credentials } = arrival.fields
    const latest = isUpToDate
      ? await authenticator.decide(route.access, credentials, performance.now())
      : decision
    return pass(route, arrival, latest, true)
  }

  function noteUse({ fields, client, arrivedAt }: Arrival, { principal }: Allowed): void {
    const { credentials } = fields
    if (principal === undefined || credentials.kind !== 'secretKey') return
    if (credentials.notedFrom === client.address && arrivedAt < credentials.notedUntil) return
    credentials.notedFrom = client.address
    credentials.notedUntil = arrivedAt + notedMs
    keyUses.note(principal.accountId, credentials.text, client.address, 'secretKey')
  }

  return function gate(arrival, destination) {
    const route = findRoute(arrival, destination)
    if (route instanceof GatehouseError) return route
    arrival.outcome.route = route.name
    arrival.access = route.access
    // Before the decision: what follows a refused upgrade is not a request.
    if (route.websocket && asksForWebSocket(arrival.head)) arrival.connection.endAfterAnswer()
    const decision = authenticator.decide(route.access, arrival.fields.credentials, arrival.arrivedAt)
    return decision instanceof Promise
      ? decision.then((settled) => pass(route, arrival, settled))
      : pass(route, arrival, decision)
  }
}
