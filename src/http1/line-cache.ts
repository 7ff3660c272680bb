import type { RepeatedLine } from '../exchange/request-head.ts'
import { copyString, sharedCopy } from '../platform/copy-string.ts'
import { SetCache } from '../platform/set-cache.ts'
import { LineBytes } from './line-bytes.ts'
import type { RequestLine } from './request-line.ts'
import { SeenLately, toFingerprint } from './seen-lately.ts'

const placesMax = 8_192
/** Longer lines are parsed each time, and those with a query, which may hold secrets. */
const lengthMax = 256
/** What all lines that are kept may have together. */
const charactersMax = 1_048_576

const version = ' HTTP/1.'
const versionLength = version.length + 1
const lf = 0x0a
const cr = 0x0d
const space = 0x20
const zero = 0x30

/** A request line that came more than once: all requests with it share it. */
export class KnownLine implements RequestLine, RepeatedLine {
  readonly method: string
  readonly target: string
  readonly minorVersion: number
  readonly end: number
  destination: object | undefined = undefined
  destinationHost = ''
  destinationKeeper: object | undefined = undefined
  route: object | undefined = undefined
  routeTable: object | undefined = undefined
  start = ''
  startDestination: object | undefined = undefined
  startRoute: object | undefined = undefined
  startHost = ''
  startPath = ''
  readonly characters: number

  constructor({ method, target, minorVersion, end }: RequestLine) {
    this.method = method
    this.target = target
    this.minorVersion = minorVersion
    this.end = end
    this.characters = method.length + target.length
  }
}

/**
 * The parsed request lines that came more than once: many requests are for a few targets. Comparing bytes takes a third
 * of the time of making a text of them and parsing it.
 */
export class LineCache {
  readonly #known = new SetCache<KnownLine>(placesMax, charactersMax)
  /** Of those that are short. */
  readonly #bytes = new LineBytes(placesMax)
  readonly #seen = new SeenLately()
  /** Of the line that `find` was last called with; 0 = it is not to be kept. */
  #hash = 0
  #lastMethod = ''

  /** @param bytes a head, or what has arrived of it */
  find(bytes: Uint8Array): KnownLine | undefined {
    const hash = hashOf(bytes)
    this.#hash = hash
    if (hash === 0) return undefined
    const place = this.#known.placeOf(hash)
    const known = place === undefined ? undefined : this.#known.at(place)
    return place !== undefined && known !== undefined && this.#isStartOf(bytes, known, place)
      ? known
      : undefined
  }

  #isStartOf(bytes: Uint8Array, known: KnownLine, place: number): boolean {
    const length = known.end + '\r\n'.length
    if (bytes[length - 1] !== lf) return false
    return this.#bytes.canKeep(length)
      ? this.#bytes.isStartOf(bytes, place, length)
      : beginsWith(bytes, known)
  }

  /** Keeps what `find` has just missed, if it was seen before. */
  keep({ method, target, minorVersion, end }: RequestLine): void {
    const hash = this.#hash
    // Not where the target is other text than what arrived: bytes are compared with it.
    const isAsSent = method.length + target.length + versionLength + 1 === end
    if (hash === 0 || !isAsSent || target.includes('?')) return
    const fingerprint = toFingerprint(hash)
    if (!this.#seen.note(fingerprint, fingerprint)) return
    // Slices of a head would keep all of it, with its credentials. Most lines have the same method.
    this.#lastMethod = sharedCopy(method, this.#lastMethod)
    const copy = { method: this.#lastMethod, target: copyString(target), minorVersion, end }
    const place = this.#known.put(hash, new KnownLine(copy))
    if (place !== undefined) this.#bytes.set(place, `${method} ${target}${version}${minorVersion}\r\n`)
  }

  /** Forgets all, with what belongs to them. */
  clear(): void {
    this.#known.clear()
  }
}

/** FNV-1a of the first line, of 32 bits; 0 where it is too long, or has not arrived. */
function hashOf(bytes: Uint8Array): number {
  const end = Math.min(bytes.length, lengthMax + '\r\n'.length)
  let sum = 0x811c9dc5
  for (let at = 0; at < end; at++) {
    const byte = bytes[at] ?? 0
    if (byte === lf) return sum | 1
    sum = Math.imul(sum ^ byte, 0x01000193)
  }
  return 0
}

/** @param bytes with an LF among them */
function beginsWith(bytes: Uint8Array, { method, target, minorVersion, end }: KnownLine): boolean {
  const targetAt = method.length + 1
  return (
    bytes[end + 1] === lf &&
    bytes[end - 1] === zero + minorVersion &&
    bytes[targetAt - 1] === space &&
    isAt(bytes, targetAt, target) &&
    isAt(bytes, 0, method) &&
    isAt(bytes, targetAt + target.length, version) &&
    bytes[end] === cr
  )
}

function isAt(bytes: Uint8Array, start: number, text: string): boolean {
  for (let index = 0; index < text.length; index++)
    if (bytes[start + index] !== text.charCodeAt(index)) return false
  return true
}
