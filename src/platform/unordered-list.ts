/** Something that is in one list at a time. */
export interface Listed {
  /** Its index in its list; -1 = it is in none. Only the list sets it. */
  place: number
}

/**
 * Items that change with every request. Hot: a Set that changes so often keeps the garbage collector busy
 * (docs/performance.md).
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

  /** Like iterating, for hot paths. */
  forEach(visit: (item: Item) => void): void {
    for (let index = this.#items.length - 1; index >= 0; index--) {
      const item = this.#items[index]
      if (item !== undefined) visit(item)
    }
  }

  /** While iterating, items may be removed; those that are added are skipped. */
  *[Symbol.iterator](): Generator<Item> {
    for (let index = this.#items.length - 1; index >= 0; index--) {
      const item = this.#items[index]
      if (item !== undefined) yield item
    }
  }
}
