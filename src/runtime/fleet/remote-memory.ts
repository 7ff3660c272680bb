import type { InstanceMemory } from '#identity/cache/cached-records.ts'
import type { Channel } from './channel.ts'
import { type MemoryUpdate, type RequestsToFleet, toSharedClock } from './messages.ts'

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
