import type { Rate, Taken } from './store.ts'

/** Where the workers of one instance count together. */
export interface InstanceCounts {
  /** How many workers there are. */
  readonly workers: number
  take(subject: string, rate: Rate): Promise<Taken>
}
