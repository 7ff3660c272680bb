import type { InstanceMemory } from '#identity/cache/cached-records.ts'
import { monotonicClock } from '#platform/time.ts'
import { rateKey } from '#store/local-rates.ts'
import type { InstanceCounts, RateResult } from '#store/rates.ts'
import type { Channel } from './channel.ts'
import { type MemoryUpdate, type RateRequest, type RequestsToFleet, toSharedClock } from './messages.ts'

/** Counts in the fleet process. All counts of one turn of the event loop are sent in one message. */
export function createRemoteCounts(fleet: Fleet, workers: number): InstanceCounts {
  const queue = createBatch<PendingTake>((batch) => {
    // Only the members that the fleet needs: a route's rate has more.
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
  })

  return {
    workers,
    take: (purpose, subject, rate) =>
      new Promise((resolve, reject) => {
        queue({ purpose, subject: rateKey(subject), rate, resolve, reject })
      }),
  }
}

type Fleet = Pick<Channel<RequestsToFleet>, 'request'>

interface PendingTake extends RateRequest {
  resolve(taken: RateResult): void
  reject(error: unknown): void
}

function settle(batch: readonly PendingTake[], taken: readonly RateResult[]): void {
  for (const [index, { resolve, reject }] of batch.entries()) {
    const answer = taken[index]
    if (answer) resolve(answer)
    else reject(new Error('no result for a rate'))
  }
}

/** A later response is useless, as a caller must be rejected within 500 ms. */
const recallTimeoutMs = 400
/** How many keys are requested at once at most, as unauthenticated clients may send any number of them. */
const recallsMax = 1_000

/** The memory in the fleet process. All updates of one turn of the event loop are sent in one message. */
export function createRemoteMemory(fleet: Fleet): InstanceMemory {
  let openRecalls = 0

  const update = createBatch<MemoryUpdate>((batch) => {
    // It is only lost if the other process has exited, in which case this one exits too.
    fleet.request('remember', batch).catch(() => {})
  })

  const queueRecall = createBatch<PendingRecall>((batch) => {
    const keys = batch.map(({ key }) => key)
    fleet
      .request('recall', keys, recallTimeoutMs)
      .catch((): readonly unknown[] => [])
      .then((values) => {
        openRecalls -= batch.length
        // JSON has no undefined: it arrives as null.
        for (const [index, { resolve }] of batch.entries()) resolve(values[index] ?? undefined)
      })
  })

  function recall(key: string): Promise<unknown> {
    if (openRecalls >= recallsMax) return Promise.resolve(undefined)
    openRecalls++
    return new Promise((resolve) => queueRecall({ key, resolve }))
  }

  return {
    recall,
    learn: (key, value, begunAt) => update({ kind: 'learn', key, value, at: toSharedClock(begunAt) }),
    forget: (key) => update({ kind: 'forget', key, at: now() }),
    watch: () => update({ kind: 'watch', at: now() }),
    clear: () => update({ kind: 'clear', at: now() }),
  }
}

interface PendingRecall {
  readonly key: string
  resolve(value: unknown): void
}

function now(): number {
  return toSharedClock(monotonicClock())
}

/** @param send gets what was queued in one turn of the event loop */
function createBatch<Item>(send: (batch: readonly Item[]) => void): (item: Item) => void {
  let batch: Item[] = []
  function flush(): void {
    const sent = batch
    batch = []
    send(sent)
  }
  return (item) => {
    if (batch.length === 0) setImmediate(flush)
    batch.push(item)
  }
}
