import type { Socket } from 'node:net'
import { letGo } from './let-go.ts'

/** As much as a socket reads at once: only that it is not 0 matters. */
const readSize = 65_536

/**
 * Hands on what a socket receives as it comes, past the stream's buffer and its events, which cost as much as
 * the read itself. The end, errors and writes stay with the stream.
 */
export class StraightReader {
  readonly #socket: Socket
  #isPaused = false
  #isStopped = false

  /**
   * To be made before anybody else reads.
   * @param onData returns whether nothing of the chunk is in use any more
   */
  constructor(socket: Socket, onData: (chunk: Buffer) => boolean) {
    this.#socket = socket
    const push = socket.push
    // What a stream is made of calls this for each chunk (Readable.push), and reads on where it says true.
    socket.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
      if (chunk === null) return push.call(socket, chunk, encoding)
      if (onData(chunk)) letGo(chunk)
      this.#isStopped = this.#isPaused
      return !this.#isPaused
    }
    // Without it the end would not be told.
    socket.resume()
  }

  /** What has been read already still comes: at most one chunk. */
  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
    if (!this.#isStopped) return
    this.#isStopped = false
    if (!this.#socket.destroyed) this.#socket._read(readSize)
  }

  /** From now on the stream is one like any other. */
  release(): void {
    // The cast is sound: what is taken away is what was put before the one of the prototype.
    delete (this.#socket as { push?: unknown }).push
    this.resume()
  }
}
