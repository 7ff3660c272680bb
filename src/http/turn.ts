import { callForAll } from '#platform/call-for-all.ts'
import { sharedBuffer } from './read-memory.ts'
import { ReadQueue } from './read-queue.ts'

// At the end of a turn of the event loop all that has come up in it is done, one step after the other for all
// connections: responses are handled, requests are read, requests are handled, all is written, and what has ended is
// observed. So the code of each step stays in the caches of the processor (docs/performance.md).

/** Something whose next write can be deferred. */
export interface DeferredWrite {
  /** True while it waits: set by `deferWrite`, cleared when it writes. */
  isDeferred: boolean
  /** Called at least once after it was deferred: it may have been written in the meantime. */
  writeNow(): void
}

/** Maximum number of writes in one batch: the first waits for the last (docs/performance.md). */
const batchMax = 128

/** What targets have sent: handled first, as that frees the connections that requests wait for. */
export const responses = new ReadQueue(sharedBuffer)
/** What clients have sent. */
export const requests = new ReadQueue(sharedBuffer)
let batch: DeferredWrite[] = []
let isScheduled = false

/** One step, and what waits for its end. */
class Step {
  readonly #take: () => void
  #isInProgress = false
  #tasks: (() => void)[] = []

  constructor(take: () => void) {
    this.#take = take
  }

  take(): void {
    this.#isInProgress = true
    try {
      this.#take()
    } finally {
      this.#isInProgress = false
      const tasks = this.#tasks
      this.#tasks = []
      callForAll(tasks, (task) => task())
    }
  }

  wait(task: () => void): void {
    if (this.#isInProgress) this.#tasks.push(task)
    else task()
  }
}

const reading = new Step(() => callForAll([responses, requests], (queue) => queue.deliver()))

const writing = new Step(() => {
  const writes = batch
  batch = []
  callForAll(writes, (write) => write.writeNow())
})

/** Schedules the end of this turn. */
export function scheduleTurnEnd(): void {
  if (isScheduled) return
  isScheduled = true
  setImmediate(endTurn)
}

function endTurn(): void {
  try {
    deliverReads()
  } finally {
    isScheduled = false
    writing.take()
  }
}

/** Delivers all that was read. @throws the first error of a receiver, once all others have got their data */
export function deliverReads(): void {
  reading.take()
}

/** Runs a task once all that was read is delivered; at once, unless that is in progress. */
export function afterReads(task: () => void): void {
  reading.wait(task)
}

/**
 * Defers a write until the end of this turn of the event loop, so that all writes of a turn follow each other: this
 * makes a request a tenth cheaper (docs/performance.md).
 */
export function deferWrite(write: DeferredWrite): void {
  if (write.isDeferred) return
  write.isDeferred = true
  if (batch.length >= batchMax) writing.take()
  batch.push(write)
  scheduleTurnEnd()
}

/** Runs a task once no more is written; at once, unless writes are in progress. */
export function afterWrites(task: () => void): void {
  writing.wait(task)
}
