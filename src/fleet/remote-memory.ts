import type { InstanceMemory } from '../cache/instance-memory.ts'
import type { Channel } from './channel.ts'
import type { MemoryUpdate, RequestsToFleet } from './messages.ts'
import { toSharedClock } from './shared-clock.ts'

/** An answer that comes later is of no use: a caller is to be refused within 500 ms. */
const recallTimeoutMs = 400
/** How many keys are asked for at once at most: strangers may ask for any number of made-up ones. */
const recallsMax = 1_000

interface Recall {
  readonly key: string
  resolve(value: unknown): void
}

/** The memory in the process that started the workers. What one turn of the event loop has to say goes in one message. */
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
    // Where it gets lost the other process has ended, and this one ends too.
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
        // What JSON has no word for comes as null.
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
