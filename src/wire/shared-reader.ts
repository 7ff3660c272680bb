import type { OnReadOpts, Socket } from 'node:net'
import { letGo } from './let-go.ts'
import { heldBytesMax } from './response-writer.ts'

/** As much as a socket reads at once otherwise. */
const bufferSize = 65_536
/** For all sockets: what one has read is handed on before another reads. */
const shared = Buffer.allocUnsafeSlow(bufferSize)

/**
 * Hands on what a socket receives, as StraightReader does, but reads into memory that all of them share: a
 * buffer for each read, and to collect them all, costs a small answer more than the read itself. What is handed
 * on in it is good until the call returns; longer data, which nobody copies, come in memory of their own.
 */
export class SharedReader {
  /** For the socket to be made with (net.connect). */
  readonly onread: OnReadOpts
  #socket: Socket | undefined
  #onData: (chunk: Buffer) => boolean = () => false
  #isPaused = false
  #isStopped = false

  constructor() {
    this.onread = { buffer: shared, callback: (length) => this.#read(length) }
  }

  /**
   * To be called before anything can have come.
   * @param onData returns whether nothing of the chunk is in use any more
   */
  attach(socket: Socket, onData: (chunk: Buffer) => boolean): void {
    this.#socket = socket
    this.#onData = onData
  }

  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
    if (!this.#isStopped) return
    this.#isStopped = false
    if (this.#socket?.destroyed === false) this.#socket._read(bufferSize)
  }

  /** @throws Error: such a socket is not one like any other. */
  release(): never {
    throw new Error('a socket that reads into shared memory cannot be given away')
  }

  #read(length: number): boolean {
    const chunk = length > heldBytesMax ? copyOfShared(length) : shared.subarray(0, length)
    if (this.#onData(chunk)) letGo(chunk)
    this.#isStopped = this.#isPaused
    return !this.#isPaused
  }
}

function copyOfShared(length: number): Buffer {
  const copy = Buffer.allocUnsafeSlow(length)
  shared.copy(copy, 0, 0, length)
  return copy
}
