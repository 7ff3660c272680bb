import type { InstanceMemory } from '../cache/instance-memory.ts'
import type { Channel } from './channel.ts'
import type { Note, ToFleet } from './questions.ts'
import { onSystemClock } from './system-clock.ts'

/** An answer that comes later is of no use: a caller is to be refused within 500 ms. */
const recallTimeoutMs = 200
/** How many keys are asked for at once at most: strangers may ask for any number of made-up ones. */
const recallsMax = 1_000

interface Recall {
  readonly key: string
  resolve(value: unknown): void
}

/** The memory in the process that started the workers. What one turn of the event loop has to say goes in one message. */
export function createRemoteMemory(fleet: Pick<Channel<ToFleet>, 'ask'>): InstanceMemory {
  let notes: Note[] = []
  let recalls: Recall[] = []
  let asked = 0

  function note(made: Note): void {
    if (notes.length === 0) setImmediate(sendNotes)
    notes.push(made)
  }

  function sendNotes(): void {
    const batch = notes
    notes = []
    // Where it gets lost the other process has ended, and this one ends too.
    fleet.ask('remember', batch).catch(() => {})
  }

  function sendRecalls(): void {
    const batch = recalls
    recalls = []
    asked += batch.length
    const keys = batch.map(({ key }) => key)
    fleet
      .ask('recall', keys, recallTimeoutMs)
      .catch((): readonly unknown[] => [])
      .then((values) => {
        asked -= batch.length
        // What JSON has no word for comes as null.
        for (const [index, { resolve }] of batch.entries()) resolve(values[index] ?? undefined)
      })
  }

  function recall(key: string): Promise<unknown> {
    if (asked + recalls.length >= recallsMax) return Promise.resolve(undefined)
    return new Promise((resolve) => {
      if (recalls.length === 0) setImmediate(sendRecalls)
      recalls.push({ key, resolve })
    })
  }

  return {
    recall,
    learn: (key, value, begunAt) => note({ kind: 'learn', key, value, at: onSystemClock(begunAt) }),
    forget: (key) => note({ kind: 'forget', key, at: now() }),
    watch: () => note({ kind: 'watch', at: now() }),
    clear: () => note({ kind: 'clear', at: now() }),
  }
}

function now(): number {
  return onSystemClock(performance.now())
}
