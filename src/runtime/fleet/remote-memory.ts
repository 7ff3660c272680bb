import type { InstanceMemory } from '#identity/cache/instance-memory.ts'
import { rateKey } from '#store/local-rates.ts'
import type { InstanceCounts, RateResult } from '#store/rates.ts'
import type { Channel } from './channel.ts'
import { type MemoryUpdate, type RateRequest, type RequestsToFleet, toSharedClock } from './messages.ts'

/** A later response is useless, as a caller must be rejected within 500 ms. */
const recallTimeoutMs = 400
/** How many keys are requested at once at most, as unauthenticated clients may send any number of them. */
const recallsMax = 1_000

interface Recall {
  readonly key: string
  resolve(value: unknown): void
}

/** The memory in the fleet process. All updates of one turn of the event loop are sent in one message. */
export function createRemoteMemory(fleet: Pick<Channel<RequestsToFleet>, 'request'>): InstanceMemory {
  let updates: MemoryUpdate[] = []
  let recalls: Recall[] = []
  let recallsInFlight = 0

  function queueUpdate(update: MemoryUpdate): void {
    if (updates.length === 0) setImmediate(sendUpdates)
    updates.push(update)
  }

  function sendUpdates(): void {
    const batch = updates
    updates = []
    // It is only lost if the other process has exited, in which case this one exits too.
    fleet.request('remember', batch).catch(() => {})
  }

  function sendRecalls(): void {
    const batch = recalls
    recalls = []
    recallsInFlight += batch.length
    const keys = batch.map(({ key }) => key)
    fleet
      .request('recall', keys, recallTimeoutMs)
      .catch((): readonly unknown[] => [])
      .then((values) => {
        recallsInFlight -= batch.length
        // JSON has no undefined: it arrives as null.
        for (const [index, { resolve }] of batch.entries()) resolve(values[index] ?? undefined)
      })
  }

  function recall(key: string): Promise<unknown> {
    if (recallsInFlight + recalls.length >= recallsMax) return Promise.resolve(undefined)
    return new Promise((resolve) => {
      if (recalls.length === 0) setImmediate(sendRecalls)
      recalls.push({ key, resolve })
    })
  }

  return {
    recall,
    learn: (key, value, begunAt) => queueUpdate({ kind: 'learn', key, value, at: toSharedClock(begunAt) }),
    forget: (key) => queueUpdate({ kind: 'forget', key, at: now() }),
    watch: () => queueUpdate({ kind: 'watch', at: now() }),
    clear: () => queueUpdate({ kind: 'clear', at: now() }),
  }
}

function now(): number {
  return toSharedClock(performance.now())
}

interface Pending extends RateRequest {
  resolve(taken: RateResult): void
  reject(error: unknown): void
}

/** Counts in the fleet process. All counts of one turn of the event loop are sent in one message. */
export function createRemoteCounts(
  fleet: Pick<Channel<RequestsToFleet>, 'request'>,
  workers: number,
): InstanceCounts {
  let pending: Pending[] = []

  function flush(): void {
    const batch = pending
    pending = []
    // Only the members that count: a route's rate has more.
    const takes = batch.map(({ purpose, subject, rate: { limit, perMs } }) => ({
      purpose,
      subject,
      rate: { limit, perMs },
    }))
    fleet.request('take', takes).then(
      (taken) => settle(batch, taken),
      (error: unknown) => {
        for (const { reject } of batch) reject(error)
      },
    )
  }

  return {
    workers,
    take: (purpose, subject, rate) =>
      new Promise((resolve, reject) => {
        if (pending.length === 0) setImmediate(flush)
        pending.push({ purpose, subject: rateKey(subject), rate, resolve, reject })
      }),
  }
}

function settle(batch: readonly Pending[], taken: readonly RateResult[]): void {
  for (const [index, { resolve, reject }] of batch.entries()) {
    const answer = taken[index]
    if (answer) resolve(answer)
    else reject(new Error('no result for a rate'))
  }
}
