/** How many places a set has. */
const ways = 8

/** Something that a cache may keep. */
export interface Sized {
  /** The length of its texts. */
  readonly characters: number
}

/**
 * Keeps items by hashes of 32 bits, in a fixed number of places: each in one of the eight of its set, which its hash
 * chooses. Finding one takes no look-up in a map, and its texts need no hash of V8's. Of 3,000 items in 8,192 places nearly all
 * find one. The hashes are side by side, so that no other item of the set is loaded from memory.
 */
export class SetCache<Item extends Sized> {
  readonly #sets: number
  readonly #charactersMax: number
  /** By place; 0 where there is none, or it is one. */
  readonly #hashes: Int32Array
  #places: (Item | undefined)[]
  #characters = 0
  /** Which place of a set is given up next. */
  #victim = 0

  /** @param places a power of two, from 8 @param charactersMax what all that is kept may have together */
  constructor(places: number, charactersMax: number) {
    this.#sets = places / ways
    this.#charactersMax = charactersMax
    this.#hashes = new Int32Array(places)
    this.#places = this.#noItems()
  }

  /** The only item with this hash. @param hash a whole number from -2^31 to 2^31 - 1 */
  find(hash: number): Item | undefined {
    const place = this.#placeOf(hash)
    return place === undefined ? undefined : this.#places[place]
  }

  /** Whether an item can be kept without giving up another. */
  hasRoom(hash: number): boolean {
    return this.find(hash) === undefined && this.#freePlace(hash) !== undefined
  }

  /** Keeps an item in the place of one with its hash, or of any in its set. Where it is one too many for `charactersMax`, all are dropped. */
  put(hash: number, item: Item): void {
    this.#victim = (this.#victim + 1) % ways
    const place = this.#placeOf(hash) ?? this.#freePlace(hash) ?? this.#firstOf(hash) + this.#victim
    this.#characters += item.characters - (this.#places[place]?.characters ?? 0)
    if (this.#characters > this.#charactersMax) this.clear()
    else {
      this.#hashes[place] = hash
      this.#places[place] = item
    }
  }

  clear(): void {
    this.#hashes.fill(0)
    this.#places = this.#noItems()
    this.#characters = 0
  }

  #firstOf(hash: number): number {
    return ((hash ^ (hash >>> 16)) & (this.#sets - 1)) * ways
  }

  #placeOf(hash: number): number | undefined {
    const hashes = this.#hashes
    const first = this.#firstOf(hash)
    for (let place = first; place < first + ways; place++) if (hashes[place] === hash) return place
    return undefined
  }

  #freePlace(hash: number): number | undefined {
    const first = this.#firstOf(hash)
    for (let place = first; place < first + ways; place++) if (this.#places[place] === undefined) return place
    return undefined
  }

  #noItems(): (Item | undefined)[] {
    return Array.from({ length: this.#sets * ways }, () => undefined)
  }
}
