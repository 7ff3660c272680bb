import type { MemoryUpdate } from './messages.ts'

/** What the workers have looked up, for workers that are started while the store is unreachable. */
interface FleetMemory {
  /** @param worker its number, from 1 */
  remember(worker: number, notes: readonly MemoryUpdate[]): void
  /** What is known of each key; undefined = nothing. */
  recall(keys: readonly string[]): readonly unknown[]
  /** A worker has exited: it no longer sees changes. */
  removeWorker(worker: number): void
  /** @param entriesMax from now on; what is too much is dropped with the next look-up */
  resize(entriesMax: number): void
}

interface FleetMemoryOptions {
  /** How many entries are kept, and how many bytes of text in total; the oldest are dropped first. */
  readonly entriesMax: number
  readonly bytesMax: number
}

/** How many changes are remembered, as a look-up that began before one of them is outdated. */
const changesMax = 10_000

/**
 * An entry is dropped as soon as any worker has seen it change, and the result of a look-up that began earlier is
 * ignored: it may be the previous state, and its message may arrive later. A consequence: if one worker has looked up
 * the new state before another reads of the change, that value is dropped too, and is missing if the store fails in
 * that moment.
 */
export function createFleetMemory({ bytesMax, ...initial }: FleetMemoryOptions): FleetMemory {
  let { entriesMax } = initial
  /** In insertion order; as text, which takes the least memory. */
  const entries = new Map<string, string>()
  const changedAt = new Map<string, number>()
  /** All look-ups that began until this time are outdated. */
  let outdatedUntil = Number.NEGATIVE_INFINITY
  const watching = new Set<number>()
  let bytes = 0

  function drop(key: string): void {
    const text = entries.get(key)
    if (text === undefined) return
    entries.delete(key)
    bytes -= sizeOf(key, text)
  }

  function learn(key: string, value: unknown, begunAt: number): void {
    if (begunAt <= Math.max(outdatedUntil, changedAt.get(key) ?? outdatedUntil)) return
    drop(key)
    const text = JSON.stringify(value)
    entries.set(key, text)
    bytes += sizeOf(key, text)
    for (const oldest of entries.keys()) {
      if (entries.size <= entriesMax && bytes <= bytesMax) return
      drop(oldest)
    }
  }

  function forget(key: string, at: number): void {
    drop(key)
    changedAt.delete(key)
    changedAt.set(key, at)
    for (const [oldest, time] of changedAt) {
      if (changedAt.size <= changesMax) return
      changedAt.delete(oldest)
      outdatedUntil = Math.max(outdatedUntil, time)
    }
  }

  function clear(at: number): void {
    outdatedUntil = Math.max(outdatedUntil, at)
    entries.clear()
    changedAt.clear()
    bytes = 0
  }

  function apply(worker: number, note: MemoryUpdate): void {
    switch (note.kind) {
      case 'learn':
        learn(note.key, note.value, note.at)
        return
      case 'forget':
        forget(note.key, note.at)
        return
      case 'clear':
        clear(note.at)
        return
      case 'watch':
        if (watching.size === 0) clear(note.at)
        watching.add(worker)
        return
      default:
        note satisfies never
    }
  }

  return {
    remember: (worker, notes) => {
      for (const note of notes) apply(worker, note)
    },
    recall: (keys) =>
      keys.map((key) => {
        const text = entries.get(key)
        return text === undefined ? undefined : (JSON.parse(text) as unknown)
      }),
    removeWorker: (worker) => void watching.delete(worker),
    resize: (max) => {
      entriesMax = max
    },
  }
}

function sizeOf(key: string, text: string): number {
  return key.length + text.length
}
