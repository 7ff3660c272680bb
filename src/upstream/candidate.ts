import type { Target } from './target.ts'

/** The parts of a target that the choice among several depends on. */
export interface Candidate extends Pick<Target, 'origin' | 'weight' | 'inFlight'> {
  readonly health:
    | Pick<NonNullable<Target['health']>, 'isEjected' | 'isDueForTrial' | 'beginTrial'>
    | undefined
}

/**
 * Whether the target may get a request: not if the request has failed there, nor if the target is out. A retry never
 * goes to a target that is out, even one that is due for a trial.
 */
export function isEligible<Some extends Candidate>(target: Some, tried: readonly Some[]): boolean {
  const { health } = target
  if (tried.length > 0) return health?.isEjected !== true && !tried.includes(target)
  return health?.isEjected !== true || health.isDueForTrial()
}
