import type { Allowance, ExceededRate } from '#platform/errors/gatehouse-error.ts'

/** Counts requests against limits, and the processes that do so. */
export interface RateStore {
  /**
   * Takes one request from a rate, which is counted across processes if the store has several. Synchronous if this
   * process counts alone.
   * @param subject who is counted
   */
  takeFromRate(purpose: RatePurpose, subject: string, rate: Rate): RateResult | Promise<RateResult>
  /** Records a heartbeat of a process. @returns the number of live processes */
  heartbeat(process: string): Promise<number>
}

/** What is counted, each in rates of its own. */
export type RatePurpose =
  | 'audit sign-in-failed'
  | 'failure ip'
  | 'forgotten'
  | 'nobody'
  | 'notice'
  | 'oidc'
  | 'passkey'
  | 'password'
  | 'plan account'
  | 'portal act'
  | 'proof'
  | 'session start'
  | 'sign-in-code'
  | 'unanswered ip'
  | 'verification'
  | `route ${string} ${'account' | 'key' | 'ip'}`

/** `here …`: what an instance counts by itself, apart from what its store counts, as one counter may serve both. */
export type CountedPurpose = RatePurpose | `here ${RatePurpose}`

/** This many requests at once, and after that as many per `perMs`. */
export interface Rate {
  readonly limit: number
  readonly perMs: number
}

export interface RateResult {
  readonly isAllowed: boolean
  /** How many more would be allowed now. */
  readonly remaining: number
  /** The time until one more is allowed; 0 if this one was. */
  readonly retryMs: number
  /** The time until the whole limit is allowed again. */
  readonly resetMs: number
}

export function allowanceOf(policy: string, rate: Rate, { remaining, resetMs }: RateResult): Allowance {
  return { policy, limit: rate.limit, windowMs: rate.perMs, remaining, resetMs }
}

export function exceededRateOf(policy: string, rate: Rate, result: RateResult): ExceededRate {
  return { ...allowanceOf(policy, rate, result), retryMs: result.retryMs }
}

/** Counters that the workers of one instance share. */
export interface InstanceCounts {
  readonly workers: number
  /** As `RateStore.takeFromRate`. */
  take(purpose: CountedPurpose, subject: string, rate: Rate): Promise<RateResult>
}
