import { copyString } from '../platform/copy-string.ts'
import { SetCache, ways } from '../platform/set-cache.ts'
import type { RequestLine } from './request-line.ts'
import { SeenLately, toFingerprint } from './seen-lately.ts'

const placesMax = 8_192
/** Longer lines are parsed each time, and those with a query, which may hold secrets. */
const lengthMax = 256
/** What all lines that are kept may have together. */
const charactersMax = 1_048_576

const lf = 0x0a

interface KnownLine extends RequestLine {
  /** All of it, up to the CR. */
  readonly text: string
  readonly characters: number
}

/**
 * The parsed request lines that came more than once: many requests are for a few targets. Comparing bytes takes a third
 * of the time of making a text of them and parsing it.
 */
export class LineCache {
  readonly #known = new SetCache<KnownLine>(placesMax, charactersMax)
  readonly #seen = new SeenLately(placesMax)
  /** Of the line that `find` was last called with; 0 = it is not to be kept. */
  #hash = 0
  #lastMethod = ''

  /** @param bytes a head, or what has arrived of it */
  find(bytes: Uint8Array): RequestLine | undefined {
    const hash = hashOf(bytes)
    this.#hash = hash
    if (hash === 0) return undefined
    const set = this.#known.setOf(hash)
    for (let way = 0; way < ways; way++) {
      const known = this.#known.at(set, way)
      if (known === undefined || beginsWith(bytes, known.text)) return known
    }
    return undefined
  }

  /** Keeps what `find` has just missed, if it was seen before. @param head as text */
  keep({ method, target, minorVersion, end }: RequestLine, head: string): void {
    const hash = this.#hash
    if (hash === 0 || target.includes('?')) return
    const fingerprint = toFingerprint(hash)
    if (!this.#seen.note(fingerprint, fingerprint)) return
    // Slices of a head would keep all of it, with its credentials. Most lines have the same method.
    if (method !== this.#lastMethod) this.#lastMethod = copyString(method)
    const text = copyString(head.slice(0, end + 1))
    const known = { method: this.#lastMethod, target: copyString(target), minorVersion, end, text }
    this.#known.put(this.#known.setOf(hash), { ...known, characters: text.length + target.length })
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

/** @param line up to its CR; the LF is known to be in the bytes */
function beginsWith(bytes: Uint8Array, line: string): boolean {
  const { length } = line
  if (bytes[length] !== lf) return false
  for (let at = 0; at < length; at++) if (bytes[at] !== line.charCodeAt(at)) return false
  return true
}
