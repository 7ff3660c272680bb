import { randomUUID } from 'node:crypto'
import { writeOrLose } from '#platform/errors/gatehouse-error.ts'
import { type Clock, dayOf, type MonotonicMs, startOfDay } from '#platform/time.ts'
import { totalOf, type UsageBatch, type UsageEntry, type UsageStore } from '#store/usage.ts'
import { type Count, DayCounts, type UsageCaller, type UsedRoute } from './counts.ts'

/**
 * Counts in memory what callers use, which costs a request two look-ups, and writes it every second: a crash loses no
 * more than two seconds. What cannot be written is kept and retried, up to a limit.
 */
export interface UsageRecorder {
  /** @param now the time of the request */
  count(route: UsedRoute, caller: UsageCaller, used: UsageAmount, now: MonotonicMs): void
  /** Writes what is due; resolves even if the write fails. */
  flush(): Promise<void>
  /** Writes all that was counted, if the store is available; what is counted later is reported as lost. */
  close(): Promise<void>
}

export interface UsageAmount {
  readonly requests: number
  readonly units: number
}

interface UsageRecorderOptions {
  readonly store: Pick<UsageStore, 'addUsage'>
  readonly clock: Clock
  /** Called with usage that will never be written, at most once with each flush. */
  readonly onLoss: (loss: UsageLoss) => void
  /** Default 1 s. */
  readonly flushMs?: number
}

export interface UsageLoss {
  /** How many requests are not counted. */
  readonly requests: number
  readonly error: unknown
  /** Whether it is the first loss since something was written. */
  readonly isFirst: boolean
}

/** How often the day is checked even before its end, as the system's clock may be set. */
const dayCheckMs = 1_000
/** How many counts may wait to be written, which takes some 20 MB. */
export const pendingMax = 100_000

export function openUsageRecorder(options: UsageRecorderOptions): UsageRecorder {
  const { store, clock, onLoss, flushMs = 1_000 } = options
  let current = new DayCounts(dayOf(clock()))
  /** Until when the day of `current` is known to be today; always in the past once recording has ended. */
  let currentUntil: MonotonicMs = Number.NEGATIVE_INFINITY
  /** The counts that are being written, oldest first. New requests are counted in `current` meanwhile. */
  const sealed: Generator<readonly UsageEntry[]>[] = []
  /** Sent unchanged until it is written: the store adds it only once, even if its response was lost. */
  let batch: UsageBatch | undefined
  let pending = 0
  let lost = { requests: 0, error: undefined as unknown }
  let isLosing = false
  let running: Promise<void> | undefined
  /** Runs while something waits to be written. */
  let timer: NodeJS.Timeout | undefined
  let isClosing = false
  let isClosed = false

  function count(
    route: UsedRoute,
    caller: UsageCaller,
    { requests, units }: UsageAmount,
    now: MonotonicMs,
  ): void {
    if (now >= currentUntil) {
      if (isClosed) {
        loseLate(requests)
        return
      }
      checkDay(now)
    }
    const counted = current.find(route, caller) ?? add(route, caller)
    if (counted === undefined || !(counted.isPending || markPending(counted))) {
      lose(requests, new Error('too much usage is waiting to be written'))
      return
    }
    counted.requests += requests
    counted.units += units
  }

  /** @returns undefined where too many wait to be written */
  function add(route: UsedRoute, caller: UsageCaller): Count | undefined {
    return pending < pendingMax ? current.add(route, caller) : undefined
  }

  /** @returns false where too many wait to be written */
  function markPending(count: Count): boolean {
    if (pending >= pendingMax) return false
    pending++
    timer ??= setTimeout(flushLater, flushMs).unref()
    current.markPending(count)
    return true
  }

  function checkDay(now: MonotonicMs): void {
    const time = clock()
    const day = dayOf(time)
    if (day !== current.day) seal(day)
    currentUntil = now + Math.min(dayCheckMs, startOfDay(day + 1) - time)
  }

  /** Hands over the counts so far, to be written. */
  function seal(day: number): void {
    if (current.hasPending) sealed.push(current.batches())
    if (day === current.day) return
    current = new DayCounts(day)
    currentUntil = Number.NEGATIVE_INFINITY
  }

  function lose(requests: number, error: unknown): void {
    lost = { requests: lost.requests + requests, error }
  }

  /** Reports usage that is lost after the last flush, as no other flush will. */
  function loseLate(requests: number): void {
    lose(requests, new Error('usage is no longer recorded'))
    reportLoss()
  }

  function loseRest(): void {
    seal(current.day)
    const rest = [...(batch?.entries ?? []), ...sealed.flatMap((batches) => [...batches].flat())]
    lose(totalOf(rest).requests, new Error('the store was unavailable until the end'))
  }

  function reportLoss(): void {
    if (lost.error === undefined) return
    onLoss({ ...lost, isFirst: !isLosing })
    isLosing = true
    lost = { requests: 0, error: undefined }
  }

  function nextBatch(): UsageBatch | undefined {
    for (let next = sealed[0]?.next(); next; next = sealed[0]?.next()) {
      if (!next.done) return { id: randomUUID(), today: dayOf(clock()), entries: next.value }
      sealed.shift()
    }
    return undefined
  }

  /** @returns false where the store is unavailable */
  function write(sent: UsageBatch): Promise<boolean> {
    async function add(): Promise<void> {
      await store.addUsage(sent)
      isLosing = false
    }
    return writeOrLose(add, (error) => lose(totalOf(sent.entries).requests, error))
  }

  /** @returns false where the store is unavailable */
  async function writeAll(): Promise<boolean> {
    if (sealed.length === 0) seal(dayOf(clock()))
    for (;;) {
      batch ??= nextBatch()
      if (!batch) return true
      if (!(await write(batch))) return false
      pending -= batch.entries.length
      batch = undefined
    }
  }

  function flush(): Promise<void> {
    running ??= writeAll()
      .then(reportLoss)
      .finally(() => {
        running = undefined
      })
    return running
  }

  async function flushLater(): Promise<void> {
    await flush()
    timer = pending > 0 && !isClosing ? setTimeout(flushLater, flushMs).unref() : undefined
  }

  return {
    count,
    flush,
    close: async () => {
      isClosing = true
      clearTimeout(timer)
      await running
      let isWritten = await writeAll()
      // The first round may only have written what an outage had left, and requests may have ended since.
      while (isWritten && current.hasPending) isWritten = await writeAll()
      isClosed = true
      currentUntil = Number.NEGATIVE_INFINITY
      clearTimeout(timer)
      if (!isWritten) loseRest()
      reportLoss()
    },
  }
}
