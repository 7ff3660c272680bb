import { type Candidate, isEligible } from './candidate.ts'

/** Requests under way relative to the target's weight. */
export function loadOf({ underWay, weight }: Candidate): number {
  return underWay / weight
}

/**
 * Takes turns by weight, spread evenly: 2 to 1 gives A B A, not A A B.
 * @returns gives the next target among those that are eligible and whose load is at most `loadMax`; undefined = none
 */
export function createTurns<Some extends Candidate>(targets: readonly Some[]) {
  const turns = targets.map((target) => ({ target, credit: 0 }))
  return function nextTurn(tried: readonly Some[], loadMax: number): Some | undefined {
    let next: (typeof turns)[number] | undefined
    let total = 0
    for (const turn of turns) {
      const { target } = turn
      if (loadOf(target) > loadMax || !isEligible(target, tried)) continue
      turn.credit += target.weight
      total += target.weight
      if (next === undefined || turn.credit > next.credit) next = turn
    }
    if (next) next.credit -= total
    return next?.target
  }
}
