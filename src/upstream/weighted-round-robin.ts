import { type Candidate, isEligible } from './target.ts'

/** Requests in flight relative to the target's weight. */
export function loadOf({ inFlight, weight }: Candidate): number {
  return inFlight / weight
}

/**
 * Smooth weighted round-robin, as in nginx: 2 to 1 gives A B A, not A A B.
 * @returns chooses the next target among those that are eligible and whose load is at most `loadMax`; undefined = none
 */
export function createWeightedRoundRobin<Some extends Candidate>(targets: readonly Some[]) {
  const entries = targets.map((target) => ({ target, credit: 0 }))
  return function nextTarget(tried: readonly Some[], loadMax: number): Some | undefined {
    let next: (typeof entries)[number] | undefined
    let total = 0
    for (const entry of entries) {
      const { target } = entry
      if (loadOf(target) > loadMax || !isEligible(target, tried)) continue
      entry.credit += target.weight
      total += target.weight
      if (next === undefined || entry.credit > next.credit) next = entry
    }
    if (next) next.credit -= total
    return next?.target
  }
}
