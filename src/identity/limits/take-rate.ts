import { clientNetwork } from '#platform/addresses.ts'
import { type Allowance, GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { allowanceOf, exceededRateOf, type Rate, type RatePurpose, type RateResult } from '#store/rates.ts'
import type { RateLimit, RouteRate } from '../access.ts'
import type { Principal } from '../decision.ts'
import type { RateLimiter } from './rate-limiter.ts'

/** Collects what is left of each limit that a request is counted against; undefined = the response will not say. */
export type Allowances = Allowance[] | undefined

/** Why the caller has to wait; undefined = within the limit. */
export type Excess = GatehouseError | undefined

/** Who is counted. */
interface RateSubject {
  readonly principal: Principal | undefined
  readonly address: string
}

/** @returns `rate-limited` if the caller has to wait */
export function takeRate(
  limiter: Pick<RateLimiter, 'take'>,
  rate: RouteRate,
  caller: RateSubject,
  allowances?: Allowances,
): Excess | Promise<Excess> {
  const by = countedBy(rate.by, caller.principal)
  const purpose = by === rate.by ? rate.purpose : rate.purposes[by]
  const taken = limiter.take(purpose, rateSubject(by, caller), rate)
  return noteTaken('rate', rate, taken, allowances)
}

/**
 * Notes what is left of a rate. Synchronous if this process counts alone. What follows a promise is bound, here and in
 * the gate: for a closure the caller would allocate its variables even if there is no promise (hot).
 * @returns `rate-limited` if the caller has to wait
 */
export function noteTaken(
  policy: string,
  rate: Rate,
  taken: RateResult | Promise<RateResult>,
  allowances: Allowances,
): Excess | Promise<Excess> {
  return taken instanceof Promise
    ? taken.then(excessOf.bind(undefined, policy, rate, allowances))
    : excessOf(policy, rate, allowances, taken)
}

function excessOf(policy: string, rate: Rate, allowances: Allowances, taken: RateResult): Excess {
  if (!taken.isAllowed)
    return new GatehouseError('rate-limited', { rate: exceededRateOf(policy, rate, taken) })
  allowances?.push(allowanceOf(policy, rate, taken))
  return undefined
}

/** How a caller is counted: by account or key, if there is one, or else by client address. */
export function countedBy(by: RateLimit['by'], principal: Principal | undefined): RateLimit['by'] {
  if (by === 'ip' || !principal) return 'ip'
  // In an outage the key's name is unknown: all keys of the account then count together.
  return by === 'account' || principal.key === undefined ? 'account' : 'key'
}

/** @param by what `countedBy` returned */
export function rateSubject(by: RateLimit['by'], { principal, address }: RateSubject): string {
  if (by === 'ip' || !principal) return clientNetwork(address)
  return by === 'account' ? principal.accountId : `${principal.accountId} ${principal.key}`
}

/** Session starts of one account: burst 600, then 10 per second. Each is a write to the store. */
const sessionStartRate: Rate = { limit: 600, perMs: 60_000 }

/** Portal forms of one account: burst 600, then one in six seconds. */
const portalActionRate: Rate = { limit: 600, perMs: 3_600_000 }

/** @throws GatehouseError `rate-limited` if the account starts too many sessions */
export function takeSessionStart(limiter: Pick<RateLimiter, 'take'>, accountId: string): Promise<void> {
  return takeOrThrow(limiter, 'session start', accountId, sessionStartRate)
}

/** @throws GatehouseError `rate-limited` if the account submits too many portal forms: each may be audited */
export function takePortalAction(limiter: Pick<RateLimiter, 'take'>, accountId: string): Promise<void> {
  return takeOrThrow(limiter, 'portal act', accountId, portalActionRate)
}

/**
 * Takes from a rate, and throws if it is exceeded.
 * @throws GatehouseError `rate-limited`
 */
export async function takeOrThrow(
  limiter: Pick<RateLimiter, 'take'>,
  purpose: RatePurpose,
  subject: string,
  rate: Rate,
): Promise<void> {
  const excess = await noteTaken('rate', rate, limiter.take(purpose, subject, rate), undefined)
  if (excess) throw excess
}
