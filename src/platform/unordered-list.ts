/** What can be in one list at a time. */
export interface Listed {
  /** Where it is in its list; -1 = in none. For the list alone. */
  place: number
}

/**
 * Items that come and go with every request. A Set that changes so often costs the collector more than all else: each
 * time V8 rehashes it, the old table keeps what was in it, and once that table is old only a full collection frees it.
 */
export class UnorderedList<Item extends Listed> {
  readonly #items: Item[] = []

  get size(): number {
    return this.#items.length
  }

  add(item: Item): void {
    if (item.place === -1) item.place = this.#items.push(item) - 1
  }

  /** @returns whether it was there */
  remove(item: Item): boolean {
    const { place } = item
    if (place === -1) return false
    item.place = -1
    const last = this.#items.pop()
    if (last !== undefined && last !== item) {
      this.#items[place] = last
      last.place = place
    }
    return true
  }

  /** As by iterating, which takes ten times as long. */
  forEach(visit: (item: Item) => void): void {
    for (let index = this.#items.length - 1; index >= 0; index--) {
      const item = this.#items[index]
      if (item !== undefined) visit(item)
    }
  }

  /** Items may be removed meanwhile, and added: those that are added are left out. */
  *[Symbol.iterator](): Generator<Item> {
    for (let index = this.#items.length - 1; index >= 0; index--) {
      const item = this.#items[index]
      if (item !== undefined) yield item
    }
  }
}
