import { smallChunkBytesMax } from '../http1/response-writer.ts'

/** Pieces of a body that are written as one. Mostly there is only one: it is kept without a list. */
export class JoinedChunks {
  #first: Buffer | undefined
  #others: Buffer[] | undefined
  #bytes = 0

  /** Whether more may be joined to them before they are written. */
  get isSmall(): boolean {
    return this.#bytes <= smallChunkBytesMax
  }

  /** @param chunk valid for good */
  add(chunk: Buffer): void {
    this.#bytes += chunk.length
    if (this.#first === undefined) this.#first = chunk
    else if (this.#others === undefined) this.#others = [chunk]
    else this.#others.push(chunk)
  }

  /** @returns all of them; undefined = there are none */
  take(): Buffer | undefined {
    const first = this.#first
    if (first === undefined) return undefined
    const others = this.#others
    this.#first = undefined
    this.#others = undefined
    this.#bytes = 0
    return others === undefined ? first : Buffer.concat([first, ...others])
  }
}
