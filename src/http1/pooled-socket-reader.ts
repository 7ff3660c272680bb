import type { OnReadOpts, Socket } from 'node:net'
import { receivedChunk, sharedBuffer } from './read-buffers.ts'
import { SocketReader } from './socket-reader.ts'

/**
 * Hands on what a socket receives, as StraightReader does, but for a socket that is yet to be made: it reads into the
 * shared memory from the start. Such a socket cannot be handed over.
 */
export class PooledSocketReader {
  /** For the socket to be made with (net.connect). */
  readonly onread: OnReadOpts = {
    buffer: sharedBuffer,
    callback: (length) => this.#flow?.deliver(receivedChunk(length)) ?? false,
  }
  #flow: SocketReader | undefined

  /**
   * To be called before anything can have come.
   * @param onData returns whether the chunk is not in use any more
   */
  attach(socket: Socket, onData: (chunk: Buffer) => boolean): SocketReader {
    this.#flow = new SocketReader(socket, onData)
    return this.#flow
  }
}
