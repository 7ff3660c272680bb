import { randomUUID } from 'node:crypto'
import type { MonotonicClock } from '#platform/time.ts'
import { createLocalRates } from '#store/local-rates.ts'
import type { InstanceCounts, Rate, RatePurpose, RateResult, RateStore } from '#store/rates.ts'

/** Counts requests, across instances as long as the store is reachable. */
export interface RateLimiter {
  /** Like `RateStore.takeFromRate`; synchronous if this process counts alone. */
  take(purpose: RatePurpose, subject: string, rate: Rate): RateResult | Promise<RateResult>
  /** Counts in this process only, without the store. */
  takeInProcess(purpose: RatePurpose, subject: string, rate: Rate): RateResult
  /** Counts in all workers of this instance, without the store; undefined = there is only one worker. */
  readonly takeInInstance:
    | ((purpose: RatePurpose, subject: string, rate: Rate) => Promise<RateResult>)
    | undefined
  /** The number of processes last known, at least 1. */
  processes(): number
  /**
   * Sends a heartbeat if one is due. Called before another command is sent to the store: one write and one reply for
   * both wake an idle process less often.
   */
  beat(): void
  close(): void
}

interface RateLimiterOptions {
  readonly store: RateStore
  readonly storeConnection: { readonly isUp: boolean }
  readonly monotonic: MonotonicClock
  /** Counts that the workers of this instance share; undefined = there is only one worker. */
  readonly counts?: InstanceCounts | undefined
  /** Called when the store did not count a request, which this process then counts alone, or a heartbeat. */
  onStoreFailure(error: unknown): void
}

/** When the next heartbeat is due after the last: it is then sent with the next reading of the change log. */
const heartbeatDueMs = 900
/** When a heartbeat is sent at the latest: instances learn of each other within this time. */
const heartbeatMs = 1_300
/** The delay of a heartbeat once the store is reachable, and of the next attempt if one failed. */
const heartbeatRetryMs = 100

/**
 * While the store is unreachable each process counts alone, and allows its share: the limit divided by the last known
 * number of processes, at least one.
 */
export function openRateLimiter({
  store,
  storeConnection,
  monotonic,
  counts,
  onStoreFailure,
}: RateLimiterOptions): RateLimiter {
  const local = createLocalRates(monotonic)
  // A second set of counters, as `takeInProcess` must not use up the outage share in `local`.
  const inProcess = createLocalRates(monotonic)
  const instance = randomUUID()
  let processes = 1
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  /** When the next heartbeat is due; Infinity = the last is on its way, or will be repeated soon. */
  let dueAt = Number.POSITIVE_INFINITY

  /** @returns whether it was sent */
  async function sendHeartbeat(): Promise<boolean> {
    if (!storeConnection.isUp) return false
    try {
      processes = Math.max(1, await store.heartbeat(instance))
      return true
    } catch (error) {
      onStoreFailure(error)
      return false
    }
  }

  async function heartbeat(): Promise<void> {
    if (isClosed) return
    clearTimeout(timer)
    dueAt = Number.POSITIVE_INFINITY
    const isSent = await sendHeartbeat()
    if (isClosed) return
    if (isSent) dueAt = monotonic() + heartbeatDueMs
    timer = setTimeout(heartbeat, isSent ? heartbeatMs : heartbeatRetryMs).unref()
  }

  function beat(): void {
    if (monotonic() >= dueAt) void heartbeat()
  }

  function take(purpose: RatePurpose, subject: string, rate: Rate): RateResult | Promise<RateResult> {
    if (!storeConnection.isUp) return takeShare(purpose, subject, rate)
    const taken = store.takeFromRate(purpose, subject, rate)
    return taken instanceof Promise
      ? taken.catch(shareOnFailure.bind(undefined, purpose, subject, rate))
      : taken
  }

  function shareOnFailure(purpose: RatePurpose, subject: string, rate: Rate, error: unknown): RateResult {
    onStoreFailure(error)
    return takeShare(purpose, subject, rate)
  }

  function takeShare(purpose: RatePurpose, subject: string, rate: Rate): RateResult {
    return local.take(purpose, subject, { ...rate, limit: Math.max(1, Math.floor(rate.limit / processes)) })
  }

  setImmediate(heartbeat)

  const takeInInstance: RateLimiter['takeInInstance'] =
    counts && ((purpose, subject, rate) => counts.take(`here ${purpose}`, subject, rate))

  return {
    take,
    takeInProcess: inProcess.take,
    takeInInstance,
    processes: () => processes,
    beat,
    close: () => {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
