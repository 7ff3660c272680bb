import type { RequestHead } from '../exchange/request-head.ts'
import { copyString } from '../platform/copy-string.ts'
import { LineCache } from './line-cache.ts'
import { SeenLately, toFingerprint } from './seen-lately.ts'

/** The part of a head below its request line. */
export type HeadFields = Pick<
  RequestHead,
  'rawHeaders' | 'body' | 'isPersistent' | 'expectsContinue' | 'upgrade' | 'repeated'
>

/**
 * How often entries not used since the last sweep are dropped: they hold secrets, which are kept no longer than
 * needed. Not all are dropped at once: parsing the frequent ones again makes garbage that lives just long enough to be
 * copied by the collector, which doubled the length of its pauses.
 */
const sweepMs = 1_000
/**
 * At most so many entries, of such a length and so many fields: together no more than 16 MiB, and a flood of made-up
 * ones costs no more than some 4 % of the time.
 */
const entriesMax = 2_048
const bytesMax = 2_048
const fieldsMax = 32
/**
 * The fingerprint is of all bytes of short fields, and of about 2^6 of longer ones; whether fields are the same is decided
 * by comparing all of them.
 */
const shortBytesMax = 128
const sampleBits = 6

interface Entry {
  /** As they arrive, with the empty line at their end. */
  readonly bytes: Buffer
  readonly fields: HeadFields
  /** Whether it was used since the last sweep. */
  isRecentlyUsed: boolean
}

/**
 * The parsed fields of repeated heads. Clients mostly send the same fields each time, and a token makes them long:
 * comparing takes a fraction of the time of parsing. Fields that arrive only once are never kept.
 */
export class HeadCache {
  /** What comes above fields, whichever they are. */
  readonly lines: LineCache = new LineCache()
  readonly #entries = new Map<number, Entry>()
  readonly #seen = new SeenLately()
  /** By their fingerprints, the hashes of all bytes of fields whose fingerprint was seen before. */
  readonly #seenWhole = new SeenLately()
  /** The fingerprint of the fields that `find` was last called with. */
  #fingerprint = 0

  /** @param bytes a head: they end with an empty line @param start where its first field line begins */
  find(bytes: Buffer, start: number): HeadFields | undefined {
    this.#fingerprint = fingerprintOf(bytes, start)
    const entry = this.#entries.get(this.#fingerprint)
    if (entry === undefined || !endsWith(bytes, start, entry.bytes)) return undefined
    entry.isRecentlyUsed = true
    return entry.fields
  }

  /** Keeps what `find` has just missed, if it was seen before. */
  add(bytes: Buffer, start: number, fields: HeadFields): void {
    const fingerprint = this.#fingerprint
    const wasSeen = this.#seen.note(fingerprint, fingerprint)
    const entries = this.#entries
    const isSmall = bytes.length - start <= bytesMax && fields.rawHeaders.length <= 2 * fieldsMax
    if (!wasSeen || !isSmall || entries.size >= entriesMax || entries.has(fingerprint)) return
    if (!this.#wasSeenWhole(bytes, start)) return
    if (entries.size === 0) this.#sweepLater()
    // Copies: slices of a larger text keep all of it in memory.
    const rawHeaders = fields.rawHeaders.map(copyString)
    const block = Buffer.allocUnsafeSlow(bytes.length - start)
    block.set(bytes.subarray(start))
    entries.set(fingerprint, {
      bytes: block,
      fields: { ...fields, rawHeaders, repeated: { derived: undefined } },
      isRecentlyUsed: true,
    })
  }

  /**
   * Whether not only the fingerprint was seen before. Long fields with a number that changes each time have few
   * fingerprints; kept, they would displace fields that do repeat.
   */
  #wasSeenWhole(bytes: Uint8Array, start: number): boolean {
    return strideOf(bytes, start) === 1 || this.#seenWhole.note(this.#fingerprint, hashOf(bytes, start, 1))
  }

  #sweepLater(): void {
    setTimeout(() => this.#sweep(), sweepMs).unref()
  }

  #sweep(): void {
    const entries = this.#entries
    for (const [fingerprint, entry] of entries) {
      if (!entry.isRecentlyUsed) entries.delete(fingerprint)
      entry.isRecentlyUsed = false
    }
    if (entries.size > 0) this.#sweepLater()
  }
}

/** Whether the bytes from there on are these. */
function endsWith(bytes: Buffer, start: number, end: Buffer): boolean {
  const { length } = end
  return bytes.length - start === length && bytes.compare(end, 0, length, start, start + length) === 0
}

/** @returns a number from 1 to 2^30 - 1 */
function fingerprintOf(bytes: Uint8Array, start: number): number {
  return hashOf(bytes, start, strideOf(bytes, start))
}

function strideOf(bytes: Uint8Array, start: number): number {
  const length = bytes.length - start
  return length < shortBytesMax ? 1 : 1 + (length >> sampleBits)
}

function hashOf(bytes: Uint8Array, start: number, stride: number): number {
  let sum = bytes.length - start
  for (let at = start; at < bytes.length; at += stride) sum = Math.imul(sum ^ (bytes[at] ?? 0), 0x01000193)
  return toFingerprint(sum)
}
