/** The steps of a decision about a request, in the order in which they are taken. */
export type DecisionStep = 'request' | 'cors' | 'route' | 'scheme' | 'principal' | 'policy' | 'limits'

/**
 * Told of each step that a request has passed; what the step found is in the outcome of the request. The gateway has
 * none, and the steps cost it nothing more than to see that; `explain` has one.
 */
export interface DecisionTrace {
  /** A step may be taken again, where a decision based on the cache is confirmed: the last time counts. */
  passed(step: DecisionStep): void
}
