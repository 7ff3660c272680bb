import type { Socket } from 'node:net'
import { ownedCopy, readIntoSharedBuffer, receivedChunk } from './read-buffers.ts'
import { SocketReader } from './socket-reader.ts'

/**
 * Delivers what a socket receives as it arrives, bypassing the stream's buffer and its events, which cost as much as
 * the read itself. Where possible it reads into memory that all sockets share: a new buffer for each read makes the
 * pauses of garbage collection three times as long. The end, errors and writes stay with the stream.
 */
export class DirectSocketReader extends SocketReader {
  readonly #socket: Socket
  readonly #isShared: boolean
  #isReleased = false

  /**
   * To be created before anything else reads from the socket.
   * @param onData gets chunks that are valid until it returns (see `ownedCopy`); returns whether the chunk is released
   */
  constructor(socket: Socket, onData: (chunk: Buffer) => boolean) {
    super(socket, onData)
    this.#socket = socket
    this.#isShared = readIntoSharedBuffer(socket, this.#onRead)
    if (!this.#isShared) this.#overridePush()
    // Without this there would be no `end` event.
    socket.resume()
  }

  /** From now on the socket is a stream like any other. */
  release(): void {
    this.#isReleased = true
    // The cast is sound: this deletes the `push` set below, so that the prototype's is used again.
    if (!this.#isShared) delete (this.#socket as { push?: unknown }).push
    this.resume()
  }

  readonly #onRead = (length: number): boolean => {
    const chunk = receivedChunk(length)
    return this.#isReleased ? this.#socket.push(ownedCopy(chunk)) : this.deliver(chunk)
  }

  #overridePush(): void {
    const socket = this.#socket
    const push = socket.push
    // The stream's source calls this for each chunk (Readable.push), and reads on if it returns true.
    socket.push = (chunk: Buffer | null, encoding?: BufferEncoding) =>
      chunk === null ? push.call(socket, chunk, encoding) : this.deliver(chunk)
  }
}
