import type { OnReadOpts, Socket } from 'node:net'
import { receivedChunk, sharedBuffer } from './read-buffers.ts'
import { SocketReader } from './socket-reader.ts'

/**
 * Delivers what a socket receives, as DirectSocketReader does, but for a socket that is yet to be created: it reads
 * into the shared memory from the start. Such a socket cannot be handed over.
 */
export class PooledSocketReader {
  /** The option that the socket has to be created with (net.connect). */
  readonly onread: OnReadOpts = {
    buffer: sharedBuffer,
    callback: (length) => this.#flow?.deliver(receivedChunk(length)) ?? false,
  }
  #flow: SocketReader | undefined

  /**
   * To be called before anything can have arrived.
   * @param onData returns whether the chunk is released
   */
  attach(socket: Socket, onData: (chunk: Buffer) => boolean): SocketReader {
    this.#flow = new SocketReader(socket, onData)
    return this.#flow
  }
}
