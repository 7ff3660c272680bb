/** How many places a set has. */
export const ways = 4

/** Something that a cache may keep. */
export interface Sized {
  /** The length of its texts. */
  readonly characters: number
}

/**
 * Keeps items in a fixed number of places: each in one of the four of its set, which a hash chooses, so that finding one
 * takes no look-up in a map, and its texts need no hash of V8's. Of 3,000 items in 8,192 places 99 % find one.
 */
export class SetCache<Item extends Sized> {
  readonly #sets: number
  readonly #charactersMax: number
  #places: (Item | undefined)[]
  #characters = 0
  /** Which place of a set is given up next. */
  #victim = 0

  /** @param places a power of two, from 4 @param charactersMax what all that is kept may have together */
  constructor(places: number, charactersMax: number) {
    this.#sets = places / ways
    this.#charactersMax = charactersMax
    this.#places = this.#noItems()
  }

  /** @param hash of 32 bits @returns the number of its set */
  setOf(hash: number): number {
    return (hash ^ (hash >>> 16)) & (this.#sets - 1)
  }

  /** @param way from 0 to 3: there is none after the first that is undefined */
  at(set: number, way: number): Item | undefined {
    return this.#places[set * ways + way]
  }

  /** Keeps an item that is not kept yet. Where it is one too many for `charactersMax`, all are dropped. */
  put(hash: number, item: Item): void {
    const first = this.setOf(hash) * ways
    const free = this.#places.slice(first, first + ways).indexOf(undefined)
    this.#victim = (this.#victim + 1) % ways
    const place = first + (free === -1 ? this.#victim : free)
    this.#characters += item.characters - (this.#places[place]?.characters ?? 0)
    if (this.#characters > this.#charactersMax) this.clear()
    else this.#places[place] = item
  }

  clear(): void {
    this.#places = this.#noItems()
    this.#characters = 0
  }

  #noItems(): (Item | undefined)[] {
    return Array.from({ length: this.#sets * ways }, () => undefined)
  }
}
