import { createIpHash } from './ip-hash.ts'
import { type Candidate, isEligible } from './target.ts'
import { createWeightedRoundRobin, loadOf } from './weighted-round-robin.ts'

export type Balancing = 'roundRobin' | 'leastRequests' | 'ipHash'

/** The client of a request; only ipHash uses its address. */
export interface BalancingClient {
  readonly clientAddress: string
}

/**
 * Chooses the target of a request.
 * @param tried the targets that it has failed at; empty = the first attempt
 * @returns undefined where none is healthy, or all healthy ones were tried
 */
export type Balancer<Some> = (caller: BalancingClient, tried: readonly Some[]) => Some | undefined

export function createBalancer<Some extends Candidate>(
  balancing: Balancing,
  targets: readonly [Some, ...Some[]],
): Balancer<Some> {
  const [only] = targets
  // Most upstreams have one target without health checks: there is nothing to choose.
  if (targets.length === 1 && !only.health) return (_caller, tried) => (tried.length === 0 ? only : undefined)
  const pick = createStrategy(balancing, targets)
  return function choose(caller, tried) {
    const target = pick(caller, tried)
    if (target?.health?.isEjected) target.health.beginTrial()
    return target
  }
}

function createStrategy<Some extends Candidate>(
  balancing: Balancing,
  targets: readonly Some[],
): Balancer<Some> {
  switch (balancing) {
    case 'roundRobin': {
      const nextTarget = createWeightedRoundRobin(targets)
      return (_caller, tried) => nextTarget(tried, Number.POSITIVE_INFINITY)
    }
    case 'leastRequests': {
      const nextTarget = createWeightedRoundRobin(targets)
      // Targets with the same least load take turns.
      return (_caller, tried) => nextTarget(tried, leastLoad(targets, tried))
    }
    case 'ipHash': {
      const targetOf = createIpHash(targets)
      return ({ clientAddress }, tried) => targetOf(clientAddress, tried)
    }
    default:
      return balancing satisfies never
  }
}

function leastLoad<Some extends Candidate>(targets: readonly Some[], tried: readonly Some[]): number {
  let least = Number.POSITIVE_INFINITY
  for (const target of targets) {
    if (loadOf(target) < least && isEligible(target, tried)) least = loadOf(target)
  }
  return least
}
