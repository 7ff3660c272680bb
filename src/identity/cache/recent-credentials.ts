import { isSameSlice } from '#platform/secrets/constant-time.ts'
import { copyString } from '#platform/text.ts'
import type { Credential } from '../credentials.ts'

/** A credential that is not used is dropped after one to two of these: secrets stay in memory no longer than needed. */
const generationMs = 1_000
/** A credential is found by its last characters, which are those of a signature or a checksum, and then compared. */
const sampledCharacters = 24

/** How many are kept at most, and how many characters they have together: some issuers' tokens have several KiB. */
interface KnownBounds {
  readonly credentialsMax: number
  readonly charactersMax: number
}

/**
 * The credentials that were decided about a moment ago, with the decisions about them. They are found by a hash of their
 * text: a map of texts would make V8 intern each new one.
 */
export class RecentCredentials {
  readonly #bounds: KnownBounds
  #current = new Map<number, Credential>()
  #previous = new Map<number, Credential>()
  #characters = 0
  #timer: NodeJS.Timeout | undefined

  constructor(bounds: KnownBounds) {
    this.#bounds = bounds
  }

  /** The one whose text is a part of another text, if it is known. */
  find(text: string, from: number, to: number): Credential | undefined {
    const hash = hashOf(text, from, to)
    const credential = this.#current.get(hash) ?? this.#fromPrevious(hash)
    if (credential?.text.length !== to - from) return undefined
    const isKnown =
      credential.kind === 'secretKey'
        ? isSameSlice(credential.text, text, from)
        : credential.text === text.slice(from, to)
    return isKnown ? credential : undefined
  }

  /** @returns the one that is kept instead of this one, with a text of its own; this one where there is no room */
  keep(credential: Credential): Credential {
    const { length } = credential.text
    const { credentialsMax, charactersMax } = this.#bounds
    if (this.#current.size >= credentialsMax || this.#characters + length > charactersMax) return credential
    // A slice of a head would keep all of it.
    const kept = { ...credential, text: copyString(credential.text) }
    this.#put(hashOf(kept.text, 0, length), kept)
    return kept
  }

  #fromPrevious(hash: number): Credential | undefined {
    const credential = this.#previous.get(hash)
    if (credential) this.#put(hash, credential)
    return credential
  }

  #put(hash: number, credential: Credential): void {
    this.#current.set(hash, credential)
    this.#characters += credential.text.length
    this.#timer ??= setTimeout(this.#startGeneration, generationMs).unref()
  }

  readonly #startGeneration = (): void => {
    this.#timer = undefined
    this.#previous = this.#current
    this.#current = new Map()
    this.#characters = 0
    if (this.#previous.size > 0) this.#timer = setTimeout(this.#startGeneration, generationMs).unref()
  }
}

/** A number of 30 bits. */
function hashOf(text: string, from: number, to: number): number {
  let hash = to - from
  for (let at = Math.max(from, to - sampledCharacters); at < to; at++)
    hash = (Math.imul(hash, 33) + text.charCodeAt(at)) | 0
  return hash & 0x3fffffff
}
