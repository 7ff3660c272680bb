/** Numbers that are the same for the same seed. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 on, less than `end`. */
  integer(end: number): number {
    // A linear congruential generator (Numerical Recipes): its high bits are the good ones.
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((this.#state / 2 ** 32) * end)
  }

  of<Item>(items: readonly Item[]): Item {
    const item = items[this.integer(items.length)]
    if (item === undefined) throw new Error('nothing to choose from')
    return item
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.integer(256)))
  }
}
