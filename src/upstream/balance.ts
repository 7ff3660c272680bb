import { type Candidate, isEligible } from './candidate.ts'
import { createIpHash } from './ip-hash.ts'
import { createTurns, loadOf } from './turns.ts'

export type Balancing = 'roundRobin' | 'leastRequests' | 'ipHash'

/** The client of a request; only ipHash uses its address. */
export interface Caller {
  readonly clientAddress: string
}

/**
 * The target that gets a request.
 * @param tried the targets that it has failed at; empty = it is sent for the first time
 * @returns undefined where none is healthy, or all healthy ones were tried
 */
export type Choose<Some> = (caller: Caller, tried: readonly Some[]) => Some | undefined

export function createChoice<Some extends Candidate>(
  balancing: Balancing,
  targets: readonly [Some, ...Some[]],
): Choose<Some> {
  const [only] = targets
  // Most upstreams have one target without health checks: there is nothing to choose.
  if (targets.length === 1 && !only.health) return (_caller, tried) => (tried.length === 0 ? only : undefined)
  const pick = createPick(balancing, targets)
  return function choose(caller, tried) {
    const target = pick(caller, tried)
    if (target?.health?.isOut) target.health.beginTrial()
    return target
  }
}

function createPick<Some extends Candidate>(balancing: Balancing, targets: readonly Some[]): Choose<Some> {
  switch (balancing) {
    case 'roundRobin': {
      const nextTurn = createTurns(targets)
      return (_caller, tried) => nextTurn(tried, Number.POSITIVE_INFINITY)
    }
    case 'leastRequests': {
      const nextTurn = createTurns(targets)
      // Targets with the same least load take turns.
      return (_caller, tried) => nextTurn(tried, leastLoad(targets, tried))
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
