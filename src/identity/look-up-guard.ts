import { clientNetwork } from '#platform/addresses.ts'
import type { Rate } from '#store/rates.ts'
import { failuresLeft } from './limits/limits.ts'
import type { RateLimiter } from './limits/rate-limiter.ts'

/**
 * Bounds how many keys that may be made up are looked up for one client network: no more at a time than it may still
 * send wrong ones, so that many at once cost no more look-ups than one after the other.
 */
export interface LookUpGuard {
  /**
   * Waits while too many look-ups are under way.
   * @returns whether a key of this address may be looked up; if so, `release` is to be called once it is decided, and
   *   counted if it was wrong
   */
  admit(address: string): boolean | Promise<boolean>
  release(address: string): void
}

/** A network with look-ups under way; each waiting entry is a request that is open. */
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
