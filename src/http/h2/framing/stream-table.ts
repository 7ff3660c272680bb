/** An entry, which is in one table at a time. */
export interface TableEntry<Entry> {
  /** The ID of a stream: odd or even, depending on who opened it. */
  readonly id: number
  /** The next in the same bucket. Only for the table. */
  nextInTable: Entry | undefined
}

const bucketsMin = 16

/**
 * The open streams of a connection by ID. Not a Map: one that changes with every request costs the garbage collector
 * more than anything else (see platform/deadline-sweep.ts). IDs are assigned in order, so that buckets fill evenly.
 */
export class StreamTable<Entry extends TableEntry<Entry>> {
  #buckets: (Entry | undefined)[] = new Array(bucketsMin).fill(undefined)
  size = 0

  get(id: number): Entry | undefined {
    let entry = this.#buckets[this.#placeOf(id)]
    while (entry !== undefined && entry.id !== id) entry = entry.nextInTable
    return entry
  }

  /** @param entry must not be in a table */
  add(entry: Entry): void {
    if (++this.size > this.#buckets.length) this.#grow()
    this.#link(entry)
  }

  /** Does nothing if the entry is not there. */
  remove(entry: Entry): void {
    const place = this.#placeOf(entry.id)
    let before: Entry | undefined
    let current = this.#buckets[place]
    while (current !== undefined && current !== entry) {
      before = current
      current = current.nextInTable
    }
    if (current === undefined) return
    if (before === undefined) this.#buckets[place] = entry.nextInTable
    else before.nextInTable = entry.nextInTable
    entry.nextInTable = undefined
    this.size--
  }

  /** The entries that are there when the iteration begins. */
  *[Symbol.iterator](): Generator<Entry> {
    if (this.size === 0) return
    const entries: Entry[] = []
    for (const first of this.#buckets)
      for (let entry = first; entry !== undefined; entry = entry.nextInTable) entries.push(entry)
    yield* entries
  }

  #placeOf(id: number): number {
    return (id >>> 1) & (this.#buckets.length - 1)
  }

  #link(entry: Entry): void {
    const place = this.#placeOf(entry.id)
    entry.nextInTable = this.#buckets[place]
    this.#buckets[place] = entry
  }

  #grow(): void {
    const entries = [...this]
    this.#buckets = new Array(2 * this.#buckets.length).fill(undefined)
    for (const entry of entries) this.#link(entry)
  }
}

/** How many of the streams that this side has reset are remembered: the peer may send more before it knows. */
const resetMax = 1_000

/** Decides what a frame means that arrives on a stream that is not open. */
export class ClosedStreams {
  readonly #reset = new Set<number>()
  /** The last stream that the peer has opened, and how many it has opened. */
  lastPeerId = 0
  #opened = 0
  /** After a GOAWAY, later streams of the peer are ignored. */
  lastAccepted = Number.POSITIVE_INFINITY

  /** The peer opens a stream. */
  open(id: number): void {
    this.lastPeerId = id
    this.#opened++
  }

  /** Whether the peer has skipped streams, which it can never open (RFC 9113 5.1.1). */
  get hasSkipped(): boolean {
    return this.#opened !== (this.lastPeerId + 1) / 2
  }

  /** This side has reset a stream. */
  addReset(id: number): void {
    this.#reset.add(id)
    if (this.#reset.size <= resetMax) return
    const [oldest] = this.#reset
    if (oldest !== undefined) this.#reset.delete(oldest)
  }

  /** Whether further frames for a stream are ignored (RFC 9113 5.1). */
  isIgnored(id: number): boolean {
    return id > this.lastAccepted || this.#reset.has(id)
  }
}
