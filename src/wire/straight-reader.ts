import type { Socket } from 'node:net'
import { Flow } from './flow.ts'
import { justRead, kept, readIntoShared } from './shared-memory.ts'

/**
 * Hands on what a socket receives as it comes, past the stream's buffer and its events, which cost as much as
 * the read itself; and where it can be, in memory that all sockets share: a buffer for each read, and to collect
 * them all, makes the breaks of garbage collection three times as long. The end, errors and writes stay with the
 * stream.
 */
export class StraightReader extends Flow {
  readonly #socket: Socket
  readonly #isShared: boolean
  #isReleased = false

  /**
   * To be made before anybody else reads.
   * @param onData gets chunks that are good until it returns (see `kept`); returns whether nothing of one is in use
   */
  constructor(socket: Socket, onData: (chunk: Buffer) => boolean) {
    super(socket, onData)
    this.#socket = socket
    this.#isShared = readIntoShared(socket, this.#take)
    if (!this.#isShared) this.#divert()
    // Without it the end would not be told.
    socket.resume()
  }

  /** From now on the stream is one like any other. */
  release(): void {
    this.#isReleased = true
    // The cast is sound: what is taken away is what was put before the one of the prototype.
    if (!this.#isShared) delete (this.#socket as { push?: unknown }).push
    this.resume()
  }

  readonly #take = (length: number): boolean => {
    const chunk = justRead(length)
    return this.#isReleased ? this.#socket.push(kept(chunk)) : this.handOn(chunk)
  }

  #divert(): void {
    const socket = this.#socket
    const push = socket.push
    // What a stream is made of calls this for each chunk (Readable.push), and reads on where it says true.
    socket.push = (chunk: Buffer | null, encoding?: BufferEncoding) =>
      chunk === null ? push.call(socket, chunk, encoding) : this.handOn(chunk)
  }
}
