import { copyOf } from './copy.ts'
import type { Lines } from './field-lines.ts'
import type { RequestHead } from './request-head.ts'

/** The part of a head below its request line. */
export type HeadFields = Pick<
  RequestHead,
  'rawHeaders' | 'body' | 'isPersistent' | 'expectsContinue' | 'upgrade'
>

/**
 * How often fields are forgotten that did not come since the last sweep: they hold secrets, which are kept no longer
 * than needed. Not all are forgotten at once: learning the frequent ones anew makes garbage that lives just long
 * enough to be copied by the collector, which doubled the length of its pauses.
 */
const sweepMs = 1_000
/**
 * At most so many entries, of such a length and so many fields: together no more than 16 MiB, and keeping made-up ones
 * costs no more than some 4 % of the time.
 */
const entriesMax = 2_048
const lengthMax = 2_048
const fieldsMax = 32
/** The mark is made of about 2^7 of the bytes; whether the fields are the same is decided by comparing all of them. */
const looksBits = 7

interface Entry {
  readonly text: string
  readonly fields: HeadFields
  /** Whether it came since the last sweep. */
  isInUse: boolean
}

/**
 * The fields of heads that came a moment ago. Clients mostly send the same fields each time, and a token makes them
 * long: comparing takes a fraction of the time of parsing. Fields that come only once are never kept.
 */
export class RecentFields {
  readonly #entries = new Map<number, Entry>()
  /** The marks seen lately, each at the index that it hashes to. */
  readonly #seen = new Int32Array(entriesMax)
  /** At the same index, the hash of all bytes of the fields that had this mark last, if they had it before. */
  readonly #wholes = new Int32Array(entriesMax)
  /** The mark of the fields that `find` was asked for last. */
  #mark = 0

  /** @param start where the first field line begins; the text ends with the empty line */
  find({ bytes, text }: Lines, start: number): HeadFields | undefined {
    this.#mark = markOf(bytes, start)
    const entry = this.#entries.get(this.#mark)
    if (entry === undefined || entry.text !== text.slice(start)) return undefined
    entry.isInUse = true
    return entry.fields
  }

  /** Keeps what `find` did not find just now, if it came before. */
  keep({ bytes, text }: Lines, start: number, fields: HeadFields): void {
    const mark = this.#mark
    const place = mark % entriesMax
    const cameBefore = this.#seen[place] === mark
    this.#seen[place] = mark
    const entries = this.#entries
    const isSmall = text.length - start <= lengthMax && fields.rawHeaders.length <= 2 * fieldsMax
    if (!cameBefore || !isSmall || entries.size >= entriesMax || entries.has(mark)) return
    if (!this.#isWholeSeen(bytes, start, place)) return
    if (entries.size === 0) this.#sweepLater()
    // Copies: slices of a larger text are slower to compare, and keep all of it in memory.
    const rawHeaders = fields.rawHeaders.map(copyOf)
    const block = copyOf(text.slice(start))
    entries.set(mark, { text: block, fields: { ...fields, rawHeaders }, isInUse: true })
  }

  /**
   * Whether not only the mark came before. Long fields with a number that changes each time have few marks; kept, they
   * would take the places of those that do come again.
   */
  #isWholeSeen(bytes: Uint8Array, start: number, place: number): boolean {
    if (strideOf(bytes, start) === 1) return true
    const whole = hashOf(bytes, start, 1)
    const isSeen = this.#wholes[place] === whole
    this.#wholes[place] = whole
    return isSeen
  }

  #sweepLater(): void {
    setTimeout(() => this.#sweep(), sweepMs).unref()
  }

  #sweep(): void {
    const entries = this.#entries
    for (const [mark, entry] of entries) {
      if (!entry.isInUse) entries.delete(mark)
      entry.isInUse = false
    }
    if (entries.size > 0) this.#sweepLater()
  }
}

/** @returns a number from 1 to 2^30 - 1 */
function markOf(bytes: Uint8Array, start: number): number {
  return hashOf(bytes, start, strideOf(bytes, start))
}

function strideOf(bytes: Uint8Array, start: number): number {
  return 1 + ((bytes.length - start) >> looksBits)
}

function hashOf(bytes: Uint8Array, start: number, stride: number): number {
  let sum = bytes.length - start
  for (let at = start; at < bytes.length; at += stride) sum = Math.imul(sum ^ (bytes[at] ?? 0), 0x01000193)
  return (sum ^ (sum >>> 15)) & 0x3fffffff || 1
}
