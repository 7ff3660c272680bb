import { SeenLately, toFingerprint } from '../http1/seen-lately.ts'
import { copyString } from '../platform/copy-string.ts'
import type { Destination, DestinationMatch } from './outcome.ts'

/** A destination is kept in one of so many places of its set: of 3,000 destinations 99 % find one. */
const sets = 2_048
const waysEach = 4
const seenPlaces = 8_192
/** How many characters of a target choose its set. */
const hashedLength = 48
/** With longer texts nothing is kept, and no target with a query, which may hold secrets. */
const lengthMax = 256
/** What the texts of all that are kept may have together, in characters. */
const charactersMax = 1_048_576

/** What a destination is read from. */
export interface SentDestination {
  readonly method: string
  /** As in the request line. */
  readonly target: string
  /** As in the Host header. */
  readonly host: string
}

/** All in one object, as few lines of the core's cache hold what belongs to one of thousands of paths. */
interface Known extends Destination, DestinationMatch {
  readonly sentTarget: string
  readonly host: string
  /** Itself. */
  match: Known | undefined
}

/** The destinations of the last targets that came more than once: many requests are for a few paths. */
export class KnownDestinations {
  #known = noneKnown()
  #characters = 0
  readonly #seen = new SeenLately(seenPlaces)
  /** What was kept last. */
  #last = { method: '', host: '' }
  /** Which place of a set is given up next. */
  #victim = 0

  find({ method, target, host }: SentDestination): Destination | undefined {
    if (target.length > lengthMax) return undefined
    const first = setOf(target) * waysEach
    for (let place = first; place < first + waysEach; place++) {
      const known = this.#known[place]
      if (known === undefined) return undefined
      if (known.sentTarget === target && known.host === host && known.method === method) return known
    }
    return undefined
  }

  /** Keeps what `find` has just missed, if it was seen before. @param read the destination, of copies of the texts */
  keep(sent: SentDestination, read: (sent: SentDestination) => Destination): void {
    const { method, target, host } = sent
    const isShort = target.length <= lengthMax && host.length <= lengthMax && method.length <= lengthMax
    if (!isShort || target.includes('?')) return
    const fingerprint = toFingerprint(hashOf(method, hashOf(host, hashOf(target, 0))))
    if (!this.#seen.note(fingerprint, fingerprint)) return
    // Slices of a head would keep all of it, with its credentials. What most have in common is kept once.
    const last = this.#last
    const copy = {
      method: method === last.method ? last.method : copyString(method),
      target: copyString(target),
      host: host === last.host ? last.host : copyString(host),
    }
    this.#last = copy
    this.#put(knownOf(copy, read(copy)))
  }

  /** Sets are filled from their first place on. */
  #put(known: Known): void {
    const first = setOf(known.sentTarget) * waysEach
    const free = this.#known.slice(first, first + waysEach).indexOf(undefined)
    this.#victim = (this.#victim + 1) % waysEach
    const place = first + (free === -1 ? this.#victim : free)
    this.#characters += lengthOf(known) - lengthOf(this.#known[place])
    if (this.#characters > charactersMax) {
      this.#known = noneKnown()
      this.#characters = 0
      return
    }
    this.#known[place] = known
  }
}

function noneKnown(): (Known | undefined)[] {
  return Array.from({ length: sets * waysEach }, () => undefined)
}

function knownOf({ method, target: sentTarget, host }: SentDestination, destination: Destination): Known {
  const { target, hostName } = destination
  const known: Known = {
    sentTarget,
    host,
    method,
    table: undefined,
    route: undefined,
    target,
    hostName,
    match: undefined,
  }
  known.match = known
  return known
}

function lengthOf(known: Known | undefined): number {
  return known === undefined ? 0 : known.method.length + known.sentTarget.length + known.host.length
}

/** By its end, in which paths mostly differ: hashing all of a long one takes longer than what it saves. */
function setOf(target: string): number {
  const sum = hashOf(target, 0, Math.max(0, target.length - hashedLength))
  return (sum ^ (sum >>> 16)) & (sets - 1)
}

/** FNV-1a, of 32 bits. */
function hashOf(text: string, start: number, from = 0): number {
  let sum = start ^ text.length
  for (let at = from; at < text.length; at++) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193)
  return sum
}
