/**
 * The numbers of many series in one array: requests to many routes find few of its lines in the core's cache, and each
 * object of its own would add one or two.
 */
export class PackedNumbers {
  values: Float64Array
  #end = 0

  /** @param length for how many there is room before they are moved for the first time */
  constructor(length: number) {
    this.values = new Float64Array(length)
  }

  /** @param count how many more, side by side, at most `length` @returns where they start */
  add(count: number): number {
    const start = this.#end
    this.#end += count
    if (this.#end > this.values.length) {
      const longer = new Float64Array(2 * this.values.length)
      longer.set(this.values)
      this.values = longer
    }
    return start
  }
}
