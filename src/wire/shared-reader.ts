import type { OnReadOpts, Socket } from 'node:net'
import { Flow } from './flow.ts'
import { heldBytesMax } from './response-writer.ts'

/** As much as a socket reads at once otherwise. For all of them: what one has read is handed on before another reads. */
const shared = Buffer.allocUnsafeSlow(65_536)

/**
 * Hands on what a socket receives, as StraightReader does, but reads into memory that all of them share: a
 * buffer for each read, and to collect them all, costs a small answer more than the read itself. What is handed
 * on in it is good until the call returns; longer data, which nobody copies, come in memory of their own. Such a
 * socket cannot be given away.
 */
export class SharedReader {
  /** For the socket to be made with (net.connect). */
  readonly onread: OnReadOpts = { buffer: shared, callback: (length) => this.#read(length) }
  #flow: Flow | undefined

  /**
   * To be called before anything can have come.
   * @param onData returns whether nothing of the chunk is in use any more
   */
  attach(socket: Socket, onData: (chunk: Buffer) => boolean): Flow {
    this.#flow = new Flow(socket, onData)
    return this.#flow
  }

  #read(length: number): boolean {
    const chunk = length > heldBytesMax ? copyOfShared(length) : shared.subarray(0, length)
    return this.#flow?.handOn(chunk) ?? false
  }
}

function copyOfShared(length: number): Buffer {
  const copy = Buffer.allocUnsafeSlow(length)
  shared.copy(copy, 0, 0, length)
  return copy
}
