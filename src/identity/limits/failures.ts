import { clientNetwork } from '#platform/addresses.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { exceededRateOf, type Rate, type RateResult } from '#store/rates.ts'
import type { RateLimiter } from './rate-limiter.ts'

/**
 * Limits how many keys that may be invented are looked up at the same time for one client network: no more than the
 * wrong keys that it may still send. Parallel requests thus cause no more look-ups than sequential ones.
 */
export interface LookUpGuard {
  /**
   * Waits while too many look-ups are in progress.
   * @returns whether a key from this address may be looked up; if so, call `release` once it is decided, and counted if
   * it was wrong
   */
  admit(address: string): boolean | Promise<boolean>
  release(address: string): void
}

/** A network with look-ups in progress; each waiting entry is an open request. */
interface Network {
  underWay: number
  readonly waiting: ((mayLookUp: boolean) => void)[]
}

export function createLookUpGuard(limiter: Pick<RateLimiter, 'takeInProcess'>, failures: Rate): LookUpGuard {
  const networks = new Map<string, Network>()

  function admit(address: string): boolean | Promise<boolean> {
    const left = failuresLeft(limiter, failures, address)
    if (left <= 0) return false
    const name = clientNetwork(address)
    const network = networks.get(name)
    if (!network) {
      networks.set(name, { underWay: 1, waiting: [] })
      return true
    }
    if (network.underWay < left) {
      network.underWay++
      return true
    }
    return new Promise((resolve) => network.waiting.push(resolve))
  }

  function release(address: string): void {
    const name = clientNetwork(address)
    const network = networks.get(name)
    if (!network) return
    network.underWay--
    const left = failuresLeft(limiter, failures, address)
    if (left <= 0) for (const resolve of network.waiting.splice(0)) resolve(false)
    for (const resolve of network.waiting.splice(0, Math.max(0, left - network.underWay))) {
      network.underWay++
      resolve(true)
    }
    if (network.underWay === 0) networks.delete(name)
  }

  return { admit, release }
}

/**
 * Counts a wrong credential from an address: first in this process, so that a flood never reaches the store, then in
 * all workers, and across instances unless it is malformed. Call it once the credential is known to be wrong: a valid
 * one is never rejected because of others. Synchronous if only this process counts.
 * @returns `too-many-failures` if there were too many
 */
export function countFailure(
  limiter: RateLimiter,
  rate: Rate,
  { address, isMalformed }: { readonly address: string; readonly isMalformed: boolean },
): GatehouseError | undefined | Promise<GatehouseError | undefined> {
  const subject = clientNetwork(address)
  const here = limiter.takeInProcess(failurePurpose, subject, rate)
  if (!here.isAllowed) return tooManyFailures(rate, here)
  if (isMalformed && !limiter.takeInInstance) return undefined
  return countShared(limiter, rate, { subject, here, isMalformed })
}

/** How many more wrong credentials a network may send to this process now. Nothing is counted. */
function failuresLeft(
  limiter: Pick<RateLimiter, 'takeInProcess'>,
  { limit, perMs }: Rate,
  address: string,
): number {
  const { resetMs } = limiter.takeInProcess(failurePurpose, clientNetwork(address), {
    limit: Number.POSITIVE_INFINITY,
    perMs,
  })
  // Times are rounded up to a millisecond.
  return Math.floor((perMs - resetMs + 1) / (perMs / limit))
}

async function countShared(
  limiter: RateLimiter,
  rate: Rate,
  { subject, here, isMalformed }: { subject: string; here: RateResult; isMalformed: boolean },
): Promise<GatehouseError | undefined> {
  const known = (await limiter.takeInInstance?.(failurePurpose, subject, rate).catch(() => here)) ?? here
  const taken = known.isAllowed && !isMalformed ? await limiter.take(failurePurpose, subject, rate) : known
  return taken.isAllowed ? undefined : tooManyFailures(rate, taken)
}

function tooManyFailures(rate: Rate, taken: RateResult): GatehouseError {
  return new GatehouseError('too-many-failures', { rate: exceededRateOf('failures', rate, taken) })
}

/** Wrong credentials by address. */
const failurePurpose = 'failure ip'
