import { callForAll } from '#platform/call-for-all.ts'

/** What gets data that was read earlier in the turn of the event loop. */
export interface DeferredReceiver {
  /** @param length of the data, which is at the start of the shared memory, and valid until this returns */
  receiveDeferred(length: number): void
}

/** Longer data is never put off. */
export const deferredBytesMax = 4_096
/** How much is put off together: what comes after it is delivered first. */
const queuedBytesMax = 131_072

/**
 * Keeps what sockets have read until all that is ready has been read. Between two reads the kernel displaces the code
 * that handles messages from the caches of the processor; one after the other, they find it there
 * (docs/performance.md).
 */
export class ReadQueue {
  readonly #shared: Buffer
  readonly #memory = Buffer.allocUnsafeSlow(queuedBytesMax)
  #receivers: DeferredReceiver[] = []
  /** Where the data of each receiver ends in the memory: that of the next begins there. */
  #ends: number[] = []
  #end = 0

  /** @param shared the memory that sockets read into, and that data is delivered in */
  constructor(shared: Buffer) {
    this.#shared = shared
  }

  /**
   * Copies what is at the start of the shared memory.
   * @returns false where there is no room for it
   */
  add(receiver: DeferredReceiver, length: number): boolean {
    if (this.#end + length > queuedBytesMax) return false
    this.#shared.copy(this.#memory, this.#end, 0, length)
    this.#end += length
    this.#receivers.push(receiver)
    this.#ends.push(this.#end)
    return true
  }

  /**
   * Not to be called while data in the shared memory is in use.
   * @throws the first error of a receiver, once all others have got their data
   */
  deliver(): void {
    if (this.#end === 0) return
    const receivers = this.#receivers
    const ends = this.#ends
    this.#receivers = []
    this.#ends = []
    this.#end = 0
    let start = 0
    callForAll(receivers, (receiver, index) => {
      const begin = start
      start = ends[index] ?? begin
      this.#memory.copy(this.#shared, 0, begin, start)
      receiver.receiveDeferred(start - begin)
    })
  }
}
