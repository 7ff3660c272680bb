import type { Socket } from 'node:net'
import { Flow } from './flow.ts'

/**
 * Hands on what a socket receives as it comes, past the stream's buffer and its events, which cost as much as
 * the read itself. The end, errors and writes stay with the stream.
 */
export class StraightReader extends Flow {
  readonly #socket: Socket

  /**
   * To be made before anybody else reads.
   * @param onData returns whether nothing of the chunk is in use any more
   */
  constructor(socket: Socket, onData: (chunk: Buffer) => boolean) {
    super(socket, onData)
    this.#socket = socket
    const push = socket.push
    // What a stream is made of calls this for each chunk (Readable.push), and reads on where it says true.
    socket.push = (chunk: Buffer | null, encoding?: BufferEncoding) =>
      chunk === null ? push.call(socket, chunk, encoding) : this.handOn(chunk)
    // Without it the end would not be told.
    socket.resume()
  }

  /** From now on the stream is one like any other. */
  release(): void {
    // The cast is sound: what is taken away is what was put before the one of the prototype.
    delete (this.#socket as { push?: unknown }).push
    this.resume()
  }
}
