import type { RepeatedLine } from '../exchange/request-head.ts'
import { SeenLately, toFingerprint } from '../http1/seen-lately.ts'
import { copyString, sharedCopy } from '../platform/copy-string.ts'
import { SetCache } from '../platform/set-cache.ts'
import type { Destination, DestinationMatch } from './outcome.ts'

const placesMax = 8_192
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
  /** That of its request, if known: method and target are copies then. */
  readonly line: RepeatedLine | undefined
}

/** All in one object, as few lines of the core's cache hold what belongs to one of thousands of paths. */
interface Known extends Destination, DestinationMatch {
  readonly sentTarget: string
  readonly host: string
  readonly characters: number
  /** Itself. */
  match: Known | undefined
}

/** The destinations of the last targets that came more than once: many requests are for a few paths. */
export class KnownDestinations {
  readonly #known = new SetCache<Known>(placesMax, charactersMax)
  readonly #seen = new SeenLately()
  /** What was kept last. */
  #last = { method: '', host: '' }

  find(sent: SentDestination): Destination | undefined {
    const { method, target, host, line } = sent
    // The cast is sound: nothing else writes it.
    if (line?.destinationHost === host && line.destinationKeeper === this.#known)
      return line.destination as Known
    if (!isShort(sent)) return undefined
    const known = this.#known.find(hashOf(sent))
    if (known?.sentTarget !== target || known.host !== host || known.method !== method) return undefined
    if (line) this.#keepWith(line, known)
    return known
  }

  /** Keeps what `find` has just missed, if it was seen before. @param read the destination, of copies of the texts */
  keep(sent: SentDestination, read: (sent: SentDestination) => Destination): void {
    const { method, target, host, line } = sent
    if (!isShort(sent) || target.includes('?')) return
    const hash = hashOf(sent)
    const fingerprint = toFingerprint(hash)
    if (!this.#seen.note(fingerprint, fingerprint)) return
    // Slices of a head would keep all of it, with its credentials. What most have in common is kept once.
    const last = this.#last
    const copy = {
      method: sharedCopy(method, last.method),
      target: line ? target : copyString(target),
      host: sharedCopy(host, last.host),
      line: undefined,
    }
    this.#last = copy
    const known = this.#knownOf(copy, read(copy))
    this.#known.put(hash, known)
    if (line) this.#keepWith(line, known)
  }

  #keepWith(line: RepeatedLine, known: Known): void {
    line.destination = known
    line.destinationHost = known.host
    line.destinationKeeper = this.#known
    line.routeTable = undefined
  }

  #knownOf({ method, target: sentTarget, host }: SentDestination, destination: Destination): Known {
    const { target, hostName } = destination
    const known: Known = {
      sentTarget,
      host,
      method,
      target,
      hostName,
      match: undefined,
      table: undefined,
      route: undefined,
      characters: method.length + sentTarget.length + host.length,
    }
    known.match = known
    return known
  }
}

function isShort({ method, target, host }: SentDestination): boolean {
  return target.length <= lengthMax && host.length <= lengthMax && method.length <= lengthMax
}

function hashOf({ method, target, host }: SentDestination): number {
  return hashOfText(method, hashOfText(host, hashOfText(target, 0)))
}

/** FNV-1a, of 32 bits. */
function hashOfText(text: string, start: number): number {
  let sum = start ^ text.length
  for (let at = 0; at < text.length; at++) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193)
  return sum
}
