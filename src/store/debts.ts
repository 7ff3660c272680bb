/**
 * How long it takes until all is given back that subjects took: numbers by subject. They are in two arrays, as an object
 * for each would take 56 bytes more, a third of the whole.
 */
export class Debts {
  /** By subject, its place in the arrays. */
  readonly #places = new Map<string, number>()
  readonly #at: Float64Array
  readonly #owedMs: Float64Array
  /** Places whose subjects were deleted. */
  readonly #free: number[] = []
  /** A cursor over the map that starts again at its end; a new iterator would walk over what was deleted there. */
  #cursor = this.#places.entries()

  /** @param subjectsMax how many there may be at once */
  constructor(subjectsMax: number) {
    this.#at = new Float64Array(subjectsMax)
    this.#owedMs = new Float64Array(subjectsMax)
  }

  get size(): number {
    return this.#places.size
  }

  /** The place of a subject until it is deleted; undefined = it owes nothing. */
  find(subject: string): number | undefined {
    return this.#places.get(subject)
  }

  remainingMs(place: number, now: number): number {
    return Math.max(0, (this.#owedMs[place] ?? 0) - Math.max(0, now - (this.#at[place] ?? 0)))
  }

  /** Whether the clock has been set back since the debt was set. */
  isAhead(place: number, now: number): boolean {
    return now < (this.#at[place] ?? 0)
  }

  /**
   * In place: a Map that is deleted from and added to by the same key walks over all that it deleted there.
   * @param owedMs from `at` on: an absolute time would leave a number no precision for fractions of an interval
   */
  set(place: number, at: number, owedMs: number): void {
    this.#at[place] = at
    this.#owedMs[place] = owedMs
  }

  /** Only where there is room, for a subject that owes nothing. */
  add(subject: string, at: number, owedMs: number): void {
    const place = this.#free.pop() ?? this.#places.size
    this.#places.set(subject, place)
    this.set(place, at, owedMs)
  }

  delete(subject: string): void {
    const place = this.#places.get(subject)
    if (place === undefined) return
    this.#places.delete(subject)
    this.#free.push(place)
  }

  /** One subject after the other and its place, from the first again after the last; undefined where there is none. */
  next(): readonly [subject: string, place: number] | undefined {
    const { value, done } = this.#cursor.next()
    if (!done) return value
    this.#cursor = this.#places.entries()
    return this.#cursor.next().value
  }
}
