import { type FailedClient, FailedRequests } from './failed-requests.ts'

/** Checks: requests of our own to see whether a target works. */
export interface ActiveCheckOptions {
  /** Path and query. */
  readonly path: string
  /** From the start of one check to the start of the next. */
  readonly intervalMs: number
  /** Until the head of the answer. */
  readonly timeoutMs: number
  /** Failures in a row that take a target out. */
  readonly unhealthyAfter: number
  /** Successes in a row that bring it back. */
  readonly healthyAfter: number
}

/** What failures of clients' requests do to a target. */
export interface PassiveCheckOptions {
  /** So many within the window take it out. */
  readonly maxFailures: number
  readonly windowMs: number
  /** How long it gets no request before one tries it again. */
  readonly ejectForMs: number
}

export interface HealthOptions {
  /** undefined = no checks. */
  readonly active: ActiveCheckOptions | undefined
  /** undefined = failures of requests are not counted. */
  readonly passive: PassiveCheckOptions | undefined
}

interface TargetHealthOptions extends Pick<HealthOptions, 'passive'> {
  /** Needed where there are checks. */
  readonly active: Pick<ActiveCheckOptions, 'unhealthyAfter' | 'healthyAfter'> | undefined
  /** Milliseconds on a monotonic clock. */
  clock(): number
  /** Told once of each change. @param reason in words for the operator */
  onChange(isEjected: boolean, reason: string): void
}

/**
 * Whether one target is to get requests. It begins healthy. Checks take it out and bring it back; failed
 * requests eject it for a time, after which one request at a time tries it: an answer brings it back.
 */
export class TargetHealth {
  /** Whether it gets no requests but trials. */
  isEjected = false
  readonly #options: TargetHealthOptions
  /** Whether the checks found it down. */
  #isUnhealthy = false
  /** Checks in a row that contradict that. */
  #streak = 0
  readonly #failures: FailedRequests
  /** When it may be tried again; undefined = it is not ejected. */
  #trialAt: number | undefined

  constructor(options: TargetHealthOptions) {
    this.#options = options
    this.#failures = new FailedRequests(options.passive?.maxFailures ?? 1)
  }

  /** Takes the result of a check. @param failure undefined = the check succeeded */
  recordCheck(failure: string | undefined): void {
    const { active } = this.#options
    if (!active) return
    if (this.#isUnhealthy === (failure !== undefined)) {
      this.#streak = 0
      return
    }
    this.#streak++
    if (this.#streak < (this.#isUnhealthy ? active.healthyAfter : active.unhealthyAfter)) return
    const count = this.#streak
    this.#streak = 0
    this.#isUnhealthy = failure !== undefined
    this.#clearFailures()
    this.#updateState(
      failure === undefined
        ? `${count} checks in a row succeeded`
        : `${count} checks in a row failed, the last: ${failure}`,
    )
  }

  /**
   * A request to it failed.
   * @param client whose request it was; undefined = it does not matter, as the request was never sent
   * @param isTrial whether the request was a trial of the target
   */
  recordFailure(failure: string, client: FailedClient | undefined, isTrial: boolean): void {
    const { passive, clock } = this.#options
    if (!passive || this.#isUnhealthy) return
    const now = clock()
    if (this.#trialAt !== undefined) {
      // Requests that were under way when it was ejected say nothing new.
      if (isTrial) this.#trialAt = now + passive.ejectForMs
      return
    }
    this.#failures.forgetBefore(now - passive.windowMs)
    this.#failures.add(now, client)
    if (!this.#failures.isThresholdReached()) return
    this.#clearFailures()
    this.#trialAt = now + passive.ejectForMs
    this.#updateState(
      `${passive.maxFailures} requests failed within ${passive.windowMs} ms, the last: ${failure}`,
    )
  }

  /** The trial request has been answered. */
  recordTrialAnswer(): void {
    if (this.#trialAt === undefined) return
    this.#trialAt = undefined
    this.#updateState('it has answered a request again')
  }

  /** Whether a request may be its trial. */
  isDueForTrial(): boolean {
    return !this.#isUnhealthy && this.#trialAt !== undefined && this.#options.clock() >= this.#trialAt
  }

  /** One request tries it; if that leads to no result, another may after the same time. */
  beginTrial(): void {
    const { passive, clock } = this.#options
    if (passive && this.#trialAt !== undefined) this.#trialAt = clock() + passive.ejectForMs
  }

  #clearFailures(): void {
    this.#failures.clear()
    this.#trialAt = undefined
  }

  #updateState(reason: string): void {
    const isEjected = this.#isUnhealthy || this.#trialAt !== undefined
    if (isEjected === this.isEjected) return
    this.isEjected = isEjected
    this.#options.onChange(isEjected, reason)
  }
}
