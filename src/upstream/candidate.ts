import type { Target } from './target.ts'

/** What of a target the choice among several depends on. */
export interface Candidate extends Pick<Target, 'origin' | 'weight' | 'underWay'> {
  readonly health: Pick<NonNullable<Target['health']>, 'isOut' | 'isDueForTrial' | 'beginTrial'> | undefined
}

/**
 * Whether it may get a request: not one that has been tried in vain, nor one that is out. Another try of a
 * request that failed is none to try a target with.
 */
export function isEligible<Some extends Candidate>(target: Some, tried: readonly Some[]): boolean {
  const { health } = target
  if (tried.length > 0) return health?.isOut !== true && !tried.includes(target)
  return health?.isOut !== true || health.isDueForTrial()
}
