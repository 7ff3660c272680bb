import type { RequestHead } from '../exchange/request-head.ts'
import { SeenLately, toFingerprint } from '../http1/seen-lately.ts'
import { copyString } from '../platform/copy-string.ts'
import { readPath, readRequestHead } from './request-head.ts'

/** How often entries not used since the last sweep are dropped: they hold secrets (see http1/head-cache.ts). */
const sweepMs = 1_000
/** At most so many entries, of so many fields and characters each: together no more than 16 MiB. */
const entriesMax = 2_048
const fieldsMax = 32
const textLengthMax = 2_048
/** About so many characters of each value are in the fingerprint: all are compared before an entry is used. */
const samplesMax = 16

interface Entry {
  /** Name, value, name, value, as the stream had them, but for the path. */
  readonly raw: readonly string[]
  readonly isEnded: boolean
  readonly head: RequestHead
  /** Whether it was used since the last sweep. */
  isRecentlyUsed: boolean
}

/**
 * The heads of requests that differ from earlier ones in `:path` alone: they share the array of fields, by which the
 * rest of the request path recognizes what it has already read. Heads that arrive only once are never kept.
 */
export class HeadCache {
  readonly #entries = new Map<number, Entry>()
  /** The hashes of heads seen lately, by their fingerprints. */
  readonly #seen = new SeenLately()

  /**
   * See readRequestHead.
   * @throws MalformedMessage
   */
  read(raw: readonly string[], isEnded: boolean): RequestHead {
    const pathAt = pathAfter(raw, 0)
    if (pathAt === -1 || !isSmall(raw, pathAt)) return readRequestHead(raw, isEnded)
    const fingerprint = hashOf(raw, pathAt, samplesMax)
    const entry = this.#entries.get(fingerprint)
    if (entry !== undefined && entry.isEnded === isEnded && isSame(entry.raw, raw, pathAt)) {
      entry.isRecentlyUsed = true
      return withPath(entry.head, raw[pathAt] ?? '')
    }
    const head = readRequestHead(raw, isEnded)
    if (entry === undefined && this.#seen.note(fingerprint, hashOf(raw, pathAt, textLengthMax)))
      this.#add(fingerprint, raw, pathAt, isEnded)
    return head
  }

  #add(fingerprint: number, raw: readonly string[], pathAt: number, isEnded: boolean): void {
    const entries = this.#entries
    // What is read is the last, what is replaced the first.
    if (entries.size >= entriesMax || pathAfter(raw, pathAt + 1) !== -1) return
    // Copies: the texts of a stream keep the memory of their connection. Paths may hold secrets, and this one would be
    // kept for as long as the other fields are in use.
    const copy = raw.map((text, index) => (index === pathAt ? '/' : copyString(text)))
    const head = { ...readRequestHead(copy, isEnded), repeated: { derived: undefined } }
    // A handshake gets a key of its own each time.
    if (head.upgrade !== undefined || head.method === 'CONNECT') return
    if (entries.size === 0) setTimeout(this.#sweep, sweepMs).unref()
    entries.set(fingerprint, { raw: copy, isEnded, head, isRecentlyUsed: true })
  }

  readonly #sweep = (): void => {
    const entries = this.#entries
    for (const [fingerprint, entry] of entries) {
      if (!entry.isRecentlyUsed) entries.delete(fingerprint)
      entry.isRecentlyUsed = false
    }
    if (entries.size > 0) setTimeout(this.#sweep, sweepMs).unref()
  }
}

/** The index of the value of the next `:path`; -1 = there is none. @param start the index of a name */
function pathAfter(raw: readonly string[], start: number): number {
  for (let index = start; index < raw.length; index += 2) if (raw[index] === ':path') return index + 1
  return -1
}

/** The head of another request with the same fields. @throws MalformedMessage */
function withPath(known: RequestHead, path: string): RequestHead {
  const { method, minorVersion, rawHeaders, body, isPersistent, expectsContinue, upgrade, repeated } = known
  const target = readPath(path)
  return {
    method,
    target,
    minorVersion,
    rawHeaders,
    body,
    isPersistent,
    expectsContinue,
    upgrade,
    repeated,
  }
}

/** Whether a head is small enough to be kept; without the path. */
function isSmall(raw: readonly string[], pathAt: number): boolean {
  if (raw.length > 2 * fieldsMax) return false
  let length = 0
  for (let index = 0; index < raw.length; index++) if (index !== pathAt) length += raw[index]?.length ?? 0
  return length <= textLengthMax
}

/** Whether two heads are the same, apart from their paths. */
function isSame(known: readonly string[], raw: readonly string[], pathAt: number): boolean {
  if (known.length !== raw.length) return false
  for (let index = 0; index < raw.length; index++)
    if (known[index] !== raw[index] && index !== pathAt) return false
  return true
}

/**
 * A hash of the lengths of all texts, and of some characters of the values; without the path.
 * @param samples of each value at most about so many @returns a number from 1 to 2^30 - 1
 */
function hashOf(raw: readonly string[], pathAt: number, samples: number): number {
  let sum = raw.length
  for (let index = 1; index < raw.length; index += 2) {
    if (index === pathAt) continue
    const value = raw[index] ?? ''
    sum = Math.imul(sum ^ value.length ^ ((raw[index - 1]?.length ?? 0) << 16), 0x01000193)
    const stride = 1 + Math.floor(value.length / samples)
    for (let at = 0; at < value.length; at += stride) sum = Math.imul(sum ^ value.charCodeAt(at), 0x01000193)
  }
  return toFingerprint(sum)
}
