/** A fingerprint has 30 bits, a place 11 to 13: the bits that lead to it begin at one of these. */
const shifts = [0, 7, 14, 3, 10, 17]

/** @param sum a hash of 32 bits @returns a number from 1 to 2^30 - 1 */
export function toFingerprint(sum: number): number {
  return (sum ^ (sum >>> 15)) & 0x3fffffff || 1
}

/**
 * Remembers what was seen lately, in four bytes for each place. Two that share a place displace each other: if they took
 * turns, neither would ever be found again (of 200, one in ten). So the places change after so many misses as there are
 * places.
 */
export class SeenLately {
  readonly #marks: Int32Array
  #misses = 0

  /** @param places a power of two: more than what comes in turn, of which each would displace another */
  constructor(places = 2_048) {
    this.#marks = new Int32Array(places)
  }

  /**
   * @param fingerprint as `toFingerprint` gives it
   * @param mark what is remembered of it, not 0
   * @returns whether it is remembered; from now on it is
   */
  note(fingerprint: number, mark: number): boolean {
    const places = this.#marks.length
    const shift = shifts[Math.floor(this.#misses / places) % shifts.length] ?? 0
    const place = (fingerprint >>> shift) % places
    if (this.#marks[place] === mark) return true
    this.#marks[place] = mark
    this.#misses++
    return false
  }
}
