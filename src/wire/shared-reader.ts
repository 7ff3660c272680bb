import type { OnReadOpts, Socket } from 'node:net'
import { Flow } from './flow.ts'
import { justRead, shared } from './shared-memory.ts'

/**
 * Hands on what a socket receives, as StraightReader does, but for a socket that is yet to be made: it reads into the
 * shared memory from the start. Such a socket cannot be handed over.
 */
export class SharedReader {
  /** For the socket to be made with (net.connect). */
  readonly onread: OnReadOpts = {
    buffer: shared,
    callback: (length) => this.#flow?.handOn(justRead(length)) ?? false,
  }
  #flow: Flow | undefined

  /**
   * To be called before anything can have come.
   * @param onData returns whether the chunk is not in use any more
   */
  attach(socket: Socket, onData: (chunk: Buffer) => boolean): Flow {
    this.#flow = new Flow(socket, onData)
    return this.#flow
  }
}
