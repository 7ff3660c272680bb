import type { RepeatedFields, RequestBody, RequestHead } from '../exchange/request-head.ts'
import { sharedCopy } from '../platform/copy-string.ts'
import { SetCache } from '../platform/set-cache.ts'
import { ByteBlock, type Piece } from './byte-block.ts'
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

/** More places than entries: of 2,048 nearly all find one of the eight that they may have. */
const placesMax = 8_192

/** Fields that are kept: all in one object, as few lines of the core's cache hold what belongs to one client of many. */
class KnownFields implements HeadFields, RepeatedFields, Piece {
  /** Their bytes as they arrive, with the empty line at their end. */
  start: number
  readonly length: number
  readonly fingerprint: number
  /** Whether they were used since the last sweep. */
  isRecentlyUsed = true
  derived: object | undefined = undefined
  readonly rawHeaders: readonly string[]
  readonly body: RequestBody
  readonly isPersistent: boolean
  readonly expectsContinue: boolean
  readonly upgrade: string | undefined

  constructor(fingerprint: number, { start, length }: Piece, fields: HeadFields) {
    this.start = start
    this.length = length
    this.fingerprint = fingerprint
    this.rawHeaders = fields.rawHeaders
    this.body = fields.body
    this.isPersistent = fields.isPersistent
    this.expectsContinue = fields.expectsContinue
    this.upgrade = fields.upgrade
  }

  get repeated(): RepeatedFields {
    return this
  }

  get characters(): number {
    return this.length
  }
}

/**
 * The parsed fields of repeated heads. Clients mostly send the same fields each time, and a token makes them long:
 * comparing takes a fraction of the time of parsing. Fields that arrive only once are never kept.
 */
export class HeadCache {
  /** What comes above fields, whichever they are. */
  readonly lines: LineCache = new LineCache()
  readonly #found = new SetCache<KnownFields>(placesMax, Number.POSITIVE_INFINITY)
  /** In the order of their bytes. */
  #entries: KnownFields[] = []
  readonly #bytes = new ByteBlock(entriesMax * bytesMax)
  readonly #seen = new SeenLately()
  /** By their fingerprints, the hashes of all bytes of fields whose fingerprint was seen before. */
  readonly #seenWhole = new SeenLately()
  /** The fingerprint of the fields that `find` was last called with. */
  #fingerprint = 0

  /** @param bytes a head: they end with an empty line @param start where its first field line begins */
  find(bytes: Buffer, start: number): HeadFields | undefined {
    const fingerprint = fingerprintOf(bytes, start)
    this.#fingerprint = fingerprint
    const entry = this.#found.find(fingerprint)
    if (entry === undefined || !this.#bytes.endsWith(bytes, start, entry)) return undefined
    // Mostly it is: what is not written need not be written back to memory.
    if (!entry.isRecentlyUsed) entry.isRecentlyUsed = true
    return entry
  }

  /** Keeps what `find` has just missed, if it was seen before. */
  add(bytes: Buffer, start: number, fields: HeadFields): void {
    const fingerprint = this.#fingerprint
    const wasSeen = this.#seen.note(fingerprint, fingerprint)
    const isSmall = bytes.length - start <= bytesMax && fields.rawHeaders.length <= 2 * fieldsMax
    // Of those in use none is given up for it.
    const hasRoom = this.#entries.length < entriesMax && this.#found.hasRoom(fingerprint)
    if (!wasSeen || !isSmall || !hasRoom || !this.#wasSeenWhole(bytes, start)) return
    if (this.#entries.length === 0) this.#sweepLater()
    const rawHeaders = this.#copyTexts(fields.rawHeaders)
    const piece = { start: this.#bytes.add(bytes.subarray(start)), length: bytes.length - start }
    const entry = new KnownFields(fingerprint, piece, { ...fields, rawHeaders })
    this.#entries.push(entry)
    this.#found.put(fingerprint, entry)
  }

  /**
   * Whether not only the fingerprint was seen before. Long fields with a number that changes each time have few
   * fingerprints; kept, they would displace fields that do repeat.
   */
  #wasSeenWhole(bytes: Uint8Array, start: number): boolean {
    return strideOf(bytes, start) === 1 || this.#seenWhole.note(this.#fingerprint, hashOf(bytes, start, 1))
  }

  /** Slices of a larger text would keep all of it in memory. What most clients send alike is kept once. */
  #copyTexts(rawHeaders: readonly string[]): readonly string[] {
    const last = this.#entries.at(-1)?.rawHeaders
    return rawHeaders.map((text, index) => sharedCopy(text, last?.[index]))
  }

  #sweepLater(): void {
    setTimeout(() => this.#sweep(), sweepMs).unref()
  }

  #sweep(): void {
    const used = this.#entries.filter(({ isRecentlyUsed }) => isRecentlyUsed)
    if (used.length < this.#entries.length) this.#keep(used)
    for (const entry of used) entry.isRecentlyUsed = false
    if (used.length > 0) this.#sweepLater()
  }

  #keep(entries: KnownFields[]): void {
    this.#entries = entries
    this.#bytes.keep(entries)
    this.#found.clear()
    for (const entry of entries) this.#found.put(entry.fingerprint, entry)
  }
}

/** @returns a number from 1 to 2^30 - 1 */
function fingerprintOf(bytes: Uint8Array, start: number): number {
  return hashOf(bytes, start, strideOf(bytes, start))
}

function strideOf(bytes: Uint8Array, start: number): number {
  const length = bytes.length - start
  return length < shortBytesMax ? 1 : 1 + (length >> sampleBits)
}

/** In two sums: each multiplication waits for the one before it in the same. */
function hashOf(bytes: Uint8Array, start: number, stride: number): number {
  const { length } = bytes
  let sum = length - start
  let other = 0
  let at = start
  for (; at + stride < length; at += 2 * stride) {
    sum = Math.imul(sum ^ (bytes[at] ?? 0), 0x01000193)
    other = Math.imul(other ^ (bytes[at + stride] ?? 0), 0x01000193)
  }
  if (at < length) sum = Math.imul(sum ^ (bytes[at] ?? 0), 0x01000193)
  return toFingerprint(Math.imul(sum, 0x01000193) ^ other)
}
