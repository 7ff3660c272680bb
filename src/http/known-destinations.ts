import { SeenLately, toFingerprint } from '../http1/seen-lately.ts'
import { copyString } from '../platform/copy-string.ts'
import type { Destination } from './outcome.ts'

const places = 64
/** With longer texts nothing is kept, and no target with a query, which may hold secrets. */
const lengthMax = 256

/** What a destination is read from. */
export interface SentDestination {
  readonly method: string
  /** As in the request line. */
  readonly target: string
  /** As in the Host header. */
  readonly host: string
}

interface Known extends SentDestination {
  readonly destination: Destination
}

/** The destinations of the last targets that came more than once: many requests are for a few paths. */
export class KnownDestinations {
  readonly #known: (Known | undefined)[] = Array.from({ length: places }, () => undefined)
  readonly #seen = new SeenLately()

  find({ method, target, host }: SentDestination): Destination | undefined {
    const known = this.#known[placeOf(target)]
    const isSame =
      known !== undefined && known.target === target && known.host === host && known.method === method
    return isSame ? known.destination : undefined
  }

  /** Keeps what `find` has just missed, if it was seen before. @param read the destination, of copies of the texts */
  keep(sent: SentDestination, read: (sent: SentDestination) => Destination): void {
    const { method, target, host } = sent
    const isShort = target.length <= lengthMax && host.length <= lengthMax && method.length <= lengthMax
    if (!isShort || target.includes('?')) return
    const fingerprint = hashOf(method, hashOf(host, hashOf(target, 0)))
    if (!this.#seen.note(fingerprint, fingerprint)) return
    // Slices of a head would keep all of it, with its credentials.
    const copy = { method: copyString(method), target: copyString(target), host: copyString(host) }
    this.#known[placeOf(target)] = { ...copy, destination: read(copy) }
  }
}

function placeOf(target: string): number {
  const { length } = target
  return (31 * length + 7 * target.charCodeAt(length - 1) + target.charCodeAt(length >> 1)) % places
}

/** @returns a number from 1 to 2^30 - 1 */
function hashOf(text: string, start: number): number {
  let sum = start ^ text.length
  for (let at = 0; at < text.length; at++) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193)
  return toFingerprint(sum)
}
