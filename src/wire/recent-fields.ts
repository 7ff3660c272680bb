import { copyOf } from './copy.ts'
import type { Lines } from './field-lines.ts'
import type { RequestHead } from './request-head.ts'

/** What a head says below its request line. */
export type HeadFields = Pick<
  RequestHead,
  'rawHeaders' | 'body' | 'isPersistent' | 'expectsContinue' | 'upgrade'
>

/**
 * How often fields are forgotten that did not come since the last time: there are secrets in them, which are kept no
 * longer than they need to be. Not all of them at once: to learn what comes all the time anew makes garbage that lives
 * just long enough to be copied when it is collected, which doubled the length of these breaks.
 */
const sweepMs = 1_000
/**
 * Remembered at once at most, of what length and how many fields: together no more than 16 MiB, and what it costs to
 * keep made-up ones no more than some 4 % of the time.
 */
const entriesMax = 2_048
const lengthMax = 2_048
const fieldsMax = 32
/** About so many bytes are what fields are found by, as a power of two; whether they are the same all of them tell. */
const looksBits = 7

interface Entry {
  readonly text: string
  readonly fields: HeadFields
  /** Whether it came since the last sweep. */
  isInUse: boolean
}

/**
 * The fields of heads that came a moment ago. Clients mostly say the same each time, and with a token that is
 * many bytes: to compare them takes a fraction of the time of reading them. What comes only once is never kept.
 */
export class RecentFields {
  readonly #entries = new Map<number, Entry>()
  /** What was seen lately, each in the place that its mark leads to. */
  readonly #seen = new Int32Array(entriesMax)
  /** Of what was asked for last. */
  #mark = 0

  /** @param start of the first field line; the empty one is the end of the text */
  find({ bytes, text }: Lines, start: number): HeadFields | undefined {
    this.#mark = markOf(bytes, start)
    const entry = this.#entries.get(this.#mark)
    if (entry === undefined || entry.text !== text.slice(start)) return undefined
    entry.isInUse = true
    return entry.fields
  }

  /** Keeps what `find` did not find just now, if it came before. */
  keep({ text }: Lines, start: number, fields: HeadFields): void {
    const mark = this.#mark
    const place = mark % entriesMax
    const cameBefore = this.#seen[place] === mark
    this.#seen[place] = mark
    const entries = this.#entries
    const isSmall = text.length - start <= lengthMax && fields.rawHeaders.length <= 2 * fieldsMax
    if (!cameBefore || !isSmall || entries.size >= entriesMax || entries.has(mark)) return
    if (entries.size === 0) this.#sweepLater()
    // Texts of their own: pieces of a larger one are slower to compare, and keep all of it in memory.
    const rawHeaders = fields.rawHeaders.map(copyOf)
    const block = copyOf(text.slice(start))
    entries.set(mark, { text: block, fields: { ...fields, rawHeaders }, isInUse: true })
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

/** A number from 1 to 2^30 - 1. */
function markOf(bytes: Uint8Array, start: number): number {
  let sum = bytes.length - start
  const stride = 1 + (sum >> looksBits)
  for (let at = start; at < bytes.length; at += stride) sum = Math.imul(sum ^ (bytes[at] ?? 0), 0x01000193)
  return (sum ^ (sum >>> 15)) & 0x3fffffff || 1
}
