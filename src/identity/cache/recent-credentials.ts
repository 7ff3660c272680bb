import { isSameSlice } from '#platform/secrets/sealing.ts'
import { copyString } from '#platform/text.ts'
import type { SchemeName } from '../access.ts'

/** What is read here of a credential. */
interface SentText {
  readonly kind: SchemeName
  readonly text: string
}

/** How many are kept at most, and how many characters they have together: some issuers' tokens have several KiB. */
interface KnownBounds {
  readonly credentialsMax: number
  readonly charactersMax: number
}

/** An unused credential is dropped after one to two of these, so that secrets stay in memory no longer than needed. */
const generationMs = 1_000
/**
 * A credential is hashed by its last characters, which belong to a signature or a checksum, and then compared in full.
 */
const sampledCharacters = 24

/**
 * The credentials of recent decisions. They are found by a hash of a part of their text: a map keyed by text would make
 * V8 intern each new one.
 */
export class RecentCredentials<Credential extends SentText> {
  readonly #bounds: KnownBounds
  #current = new Map<number, Credential>()
  #previous = new Map<number, Credential>()
  /** How many characters the current ones have together. */
  #characters = 0
  #timer: NodeJS.Timeout | undefined

  constructor(bounds: KnownBounds) {
    this.#bounds = bounds
  }

  /** The credential whose text is this part of a text, if it is known. */
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

  /** Keeps a copy of a credential, as long as there is room; one that was found here is kept already. */
  keep(credential: Credential): void {
    const { text } = credential
    const hash = hashOf(text, 0, text.length)
    if (this.#current.get(hash) === credential) return
    const { credentialsMax, charactersMax } = this.#bounds
    if (this.#current.size >= credentialsMax || this.#characters + text.length > charactersMax) return
    // A slice of a head would keep all of it.
    this.#put(hash, { ...credential, text: copyString(text) })
  }

  #fromPrevious(hash: number): Credential | undefined {
    const credential = this.#previous.get(hash)
    if (credential) this.#put(hash, credential)
    return credential
  }

  #put(hash: number, credential: Credential): void {
    const replaced = this.#current.get(hash)?.text.length ?? 0
    this.#current.set(hash, credential)
    this.#characters += credential.text.length - replaced
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

/** A hash of 30 bits. */
function hashOf(text: string, from: number, to: number): number {
  let hash = to - from
  for (let at = Math.max(from, to - sampledCharacters); at < to; at++)
    hash = (Math.imul(hash, 33) + text.charCodeAt(at)) | 0
  return hash & 0x3fffffff
}
