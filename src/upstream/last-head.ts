import { isNamed } from '../http1/raw-headers.ts'
import { isKeptView } from '../http1/read-buffers.ts'
import type { Framing } from './response-framing.ts'
import type { ResponseHead } from './response-head.ts'

/** A parsed head, and all its bytes, with the empty line at its end. */
export interface KnownHead {
  readonly bytes: Buffer
  readonly head: ResponseHead
  readonly framing: Readonly<Framing>
}

/** Longer heads are parsed each time, as each connection keeps one. */
const bytesMax = 1_024

/**
 * The last head of the responses on one connection: many responses differ from the one before in their body alone, and
 * comparing takes a fraction of the time of parsing.
 */
export class LastHead {
  /** What follows the known head in a view of shared memory that comes again with each read of its length. */
  #view: Buffer | undefined
  #restOfView: Buffer | undefined
  #known: KnownHead | undefined
  /** Of the last head that was not found. */
  #lastLength = 0

  /** @param chunk what has arrived @returns the kept head, if the chunk begins with it */
  find(chunk: Buffer): KnownHead | undefined {
    const known = this.#known
    if (known === undefined) return undefined
    const { length } = known.bytes
    return length <= chunk.length && chunk.compare(known.bytes, 0, length, 0, length) === 0
      ? known
      : undefined
  }

  /** What follows the known head. @param chunk in which `find` has just found it */
  restOf(chunk: Buffer): Buffer {
    if (chunk === this.#view && this.#restOfView !== undefined) return this.#restOfView
    const rest = chunk.subarray(this.#known?.bytes.length)
    if (isKeptView(chunk)) {
      this.#view = chunk
      this.#restOfView = rest
    }
    return rest
  }

  /**
   * Keeps a head that `find` has just missed, if it is as long as the one missed before. Cookies are for one person:
   * they hardly repeat, and are secrets.
   * @param bytes all of it
   */
  keep(bytes: Buffer, head: ResponseHead, framing: Readonly<Framing>): void {
    const { length } = bytes
    const isUsual = length === this.#lastLength
    this.#lastLength = length
    if (!isUsual || length > bytesMax || setsCookie(head)) return
    this.#view = undefined
    this.#known = { bytes: Buffer.from(bytes), head: { ...head, repeated: { derived: undefined } }, framing }
  }
}

function setsCookie({ headers }: ResponseHead): boolean {
  return headers.some((text, index) => index % 2 === 0 && isNamed(text, 'set-cookie'))
}
