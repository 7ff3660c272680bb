import type { Rate, Taken } from './store.ts'

/** Counts that the workers of one instance share. */
export interface InstanceCounts {
  /** How many workers there are. */
  readonly workers: number
  take(subject: string, rate: Rate): Promise<Taken>
}
