import { clientNetwork } from '#platform/addresses.ts'
import type { Rate, RatePurpose } from '#store/rates.ts'
import type { SchemeName } from '../access.ts'
import { failurePurpose } from './failures.ts'
import type { RateLimiter } from './rate-limiter.ts'

/** `not-now`: the issuer of a token cannot be asked at the moment; false = too many credentials were wrong. */
type Admission = boolean | 'not-now'

/** How long a token waits for others of its network. */
const tokenWaitMs = 500
/** How many tokens of one network issuers may leave unanswered before they are not asked about more for a while. */
const unanswered: Rate = { limit: 10, perMs: 10_000 }
/** Tokens that an issuer did not answer, by address. */
const unansweredPurpose = 'unanswered ip'

/** A network with look-ups in progress; each waiting entry is an open request. */
interface Network {
  underWay: number
  /** In the order in which they came. */
  readonly waiting: Set<(admission: Admission) => void>
}

/**
 * Limits how many credentials of one client network, which may be invented, are looked up at the same time: no more
 * than it may still send wrong ones. So parallel requests cause no more look-ups than sequential ones.
 */
export function createLookUpGuard(limiter: Pick<RateLimiter, 'takeInProcess'>, failures: Rate) {
  const networks = new Map<string, Network>()

  /**
   * Waits while too many look-ups are in progress, for tokens `tokenWaitMs` at most.
   * @returns whether a credential from this address may be looked up; if so, call `release` once it is decided, and
   * counted if it was wrong
   */
  function admit(address: string, kind: SchemeName): Admission | Promise<Admission> {
    const left = failuresLeft(limiter, failures, address)
    if (left <= 0) return false
    const isToken = kind === 'bearer'
    if (isToken && leftOf(limiter, unanswered, { purpose: unansweredPurpose, address }) <= 0) return 'not-now'
    const name = clientNetwork(address)
    const network = networks.get(name)
    if (!network) {
      networks.set(name, { underWay: 1, waiting: new Set() })
      return true
    }
    if (network.underWay < left) {
      network.underWay++
      return true
    }
    return wait(network, isToken)
  }

  function wait({ waiting }: Network, isToken: boolean): Promise<Admission> {
    return new Promise((resolve) => {
      const timer = isToken ? setTimeout(() => settle('not-now'), tokenWaitMs) : undefined
      const settle = (admission: Admission) => {
        clearTimeout(timer)
        waiting.delete(settle)
        resolve(admission)
      }
      waiting.add(settle)
    })
  }

  /** @param isUndecided whether the issuer of the token could not be asked */
  function release(address: string, isUndecided: boolean): void {
    if (isUndecided) limiter.takeInProcess(unansweredPurpose, clientNetwork(address), unanswered)
    const name = clientNetwork(address)
    const network = networks.get(name)
    if (!network) return
    network.underWay--
    const left = failuresLeft(limiter, failures, address)
    for (const settle of network.waiting) {
      if (left > 0 && network.underWay >= left) break
      if (left > 0) network.underWay++
      settle(left > 0)
    }
    if (network.underWay === 0) networks.delete(name)
  }

  return { admit, release }
}

/** How many more wrong credentials a network may send to this process now. */
function failuresLeft(limiter: Pick<RateLimiter, 'takeInProcess'>, rate: Rate, address: string): number {
  return leftOf(limiter, rate, { purpose: failurePurpose, address })
}

function leftOf(
  limiter: Pick<RateLimiter, 'takeInProcess'>,
  { limit, perMs }: Rate,
  { purpose, address }: { readonly purpose: RatePurpose; readonly address: string },
): number {
  // With an infinite limit a take costs nothing: it only tells how much is used. Nothing is counted.
  const { resetMs } = limiter.takeInProcess(purpose, clientNetwork(address), {
    limit: Number.POSITIVE_INFINITY,
    perMs,
  })
  // Times are rounded up to a millisecond.
  return Math.floor((perMs - resetMs + 1) / (perMs / limit))
}
