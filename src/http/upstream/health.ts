import type { MonotonicClock, MonotonicMs } from '#platform/time.ts'

/** Active checks: the gateway sends requests of its own to see whether a target works. */
export type ActiveCheckOptions = ActiveCheckRequest & ActiveCheckTimes

/**
 * What is requested: a GET of a path and query, or gRPC's health service about a service, '' = the server as a whole.
 */
type ActiveCheckRequest = { readonly path: string } | { readonly grpcService: string }

interface ActiveCheckTimes {
  /** From the start of one check to the start of the next. */
  readonly intervalMs: number
  /** Until the head of the response, or for gRPC until its end. */
  readonly timeoutMs: number
  /** Consecutive failures that mark a target unhealthy. */
  readonly unhealthyAfter: number
  /** Consecutive successes that mark it healthy. */
  readonly healthyAfter: number
}

/** Passive checks: how failures of clients' requests eject a target. */
export interface PassiveCheckOptions {
  /** Number of failures within the window that eject it. */
  readonly maxFailures: number
  readonly windowMs: number
  /** How long an ejected target gets no request before a trial. */
  readonly ejectForMs: number
}

export interface HealthOptions {
  /** undefined = no checks. */
  readonly active: ActiveCheckOptions | undefined
  /** undefined = failures of requests are not counted. */
  readonly passive: PassiveCheckOptions | undefined
}

interface TargetHealthOptions extends Pick<HealthOptions, 'passive'> {
  /** undefined = there are no checks. */
  readonly active: Pick<ActiveCheckTimes, 'unhealthyAfter' | 'healthyAfter'> | undefined
  readonly monotonic: MonotonicClock
  /** Called once for each change. @param reason for the log */
  onChange(isEjected: boolean, reason: string): void
}

/**
 * Whether one target gets requests. It starts healthy. Failed checks eject it until checks succeed again; failed
 * requests eject it for a time, after which one request at a time is its trial: a response ends that ejection.
 */
export class TargetHealth {
  /** Whether it gets no requests except trials, because checks found it unhealthy or too many requests failed. */
  isEjected = false
  readonly #options: TargetHealthOptions
  /** Whether the checks found it unhealthy. */
  #isUnhealthy = false
  /** How many checks in a row have contradicted `#isUnhealthy`. */
  #streak = 0
  readonly #failures: FailedRequests
  /** When a trial is due; undefined = it is not ejected. */
  #trialAt: MonotonicMs | undefined

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
        ? `${count} consecutive checks succeeded`
        : `${count} consecutive checks failed; last: ${failure}`,
    )
  }

  /**
   * A request to the target has failed.
   * @param client undefined = irrelevant, as the request was never sent
   * @param isTrial whether the request was a trial of the target
   */
  recordFailure(failure: string, client: FailedClient | undefined, isTrial: boolean): void {
    const { passive, monotonic } = this.#options
    if (!passive || this.#isUnhealthy) return
    const now = monotonic()
    if (this.#trialAt !== undefined) {
      // Requests that were in flight when it was ejected say nothing new.
      if (isTrial) this.#trialAt = now + passive.ejectForMs
      return
    }
    this.#failures.forgetBefore(now - passive.windowMs)
    this.#failures.add(now, client)
    if (!this.#failures.isThresholdReached()) return
    this.#clearFailures()
    this.#trialAt = now + passive.ejectForMs
    this.#updateState(
      `${passive.maxFailures} requests failed within ${passive.windowMs} ms; last: ${failure}`,
    )
  }

  /** A trial request has been answered. */
  recordTrialAnswer(): void {
    if (this.#trialAt === undefined) return
    this.#trialAt = undefined
    this.#updateState('the trial request was answered')
  }

  /** Whether the next request may be a trial of the target. */
  isDueForTrial(): boolean {
    return !this.#isUnhealthy && this.#trialAt !== undefined && this.#options.monotonic() >= this.#trialAt
  }

  /** Makes a request the target's trial; if the trial has no result, another is due after `ejectForMs`. */
  beginTrial(): void {
    const { passive, monotonic } = this.#options
    if (passive && this.#trialAt !== undefined) this.#trialAt = monotonic() + passive.ejectForMs
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

/** The client of a failed request. */
interface FailedClient {
  readonly clientNetwork: string
  readonly accountId: string | undefined
}

interface Failure {
  readonly at: MonotonicMs
  readonly client: FailedClient | undefined
}

/**
 * Failed requests to a target, as evidence against it. One that was never sent, because no connection could be made,
 * always counts. One that was sent may have failed because of the request itself, so at most half of those that count
 * may come from one client network or one account.
 */
export class FailedRequests {
  readonly #threshold: number
  /** The oldest first. */
  #failures: Failure[] = []

  /** @param threshold how many failures must count against the target to eject it; at least 1 */
  constructor(threshold: number) {
    this.#threshold = threshold
  }

  /** @param client undefined = the request was never sent */
  add(at: MonotonicMs, client: FailedClient | undefined): void {
    // Further failures of one client add nothing, and must not fill the memory.
    if (client && this.#countOf(client) >= this.#threshold) {
      const oldest = this.#failures.findIndex((failure) => isSame(failure.client, client))
      this.#failures.splice(oldest, 1)
    }
    this.#failures.push({ at, client })
  }

  forgetBefore(at: MonotonicMs): void {
    if ((this.#failures[0]?.at ?? Number.POSITIVE_INFINITY) > at) return
    this.#failures = this.#failures.filter((failure) => failure.at > at)
  }

  clear(): void {
    this.#failures = []
  }

  isThresholdReached(): boolean {
    if (this.#failures.length < this.#threshold) return false
    const clients = this.#failures.flatMap(({ client }) => client ?? [])
    const mostOfOne = Math.max(
      mostOf(clients.map(({ clientNetwork }) => clientNetwork)),
      mostOf(clients.flatMap(({ accountId }) => accountId ?? [])),
    )
    const counting = Math.min(clients.length, 2 * (clients.length - mostOfOne))
    return this.#failures.length - clients.length + counting >= this.#threshold
  }

  #countOf(client: FailedClient): number {
    return this.#failures.filter((failure) => isSame(failure.client, client)).length
  }
}

/** The count of the most frequent name. */
function mostOf(names: readonly string[]): number {
  const counts = new Map<string, number>()
  let most = 0
  for (const name of names) {
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    most = Math.max(most, count)
  }
  return most
}

/** A client may have several accounts, and an account several networks. */
function isSame(one: FailedClient | undefined, other: FailedClient): boolean {
  if (one === undefined) return false
  if (one.clientNetwork === other.clientNetwork) return true
  return one.accountId !== undefined && one.accountId === other.accountId
}
