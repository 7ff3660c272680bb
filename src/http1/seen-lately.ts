/** A fingerprint has 30 bits, the number of a set 11: the bits that lead to it begin at one of these. */
const shifts = [0, 7, 14, 3, 10, 17]
/** More than what comes in turn: of 2,048 nearly all find a place in their sets, of 200 all. */
const placesMax = 8_192
const waysBits = 2
const ways = 2 ** waysBits

/** @param sum a hash of 32 bits @returns a number from 1 to 2^30 - 1 */
export function toFingerprint(sum: number): number {
  return (sum ^ (sum >>> 15)) & 0x3fffffff || 1
}

/**
 * Remembers what was seen lately, in four bytes for each place: four marks of each set of fingerprints. A further one takes
 * the place of any of them: the oldest would be the next to come where more than four take turns. The sets change after so
 * many misses as there are places, so that none displaces the same others for long.
 */
export class SeenLately {
  readonly #marks = new Int32Array(placesMax)
  #misses = 0

  /**
   * @param fingerprint as `toFingerprint` gives it
   * @param mark what is remembered of it, not 0
   * @returns whether it is remembered; from now on it is
   */
  note(fingerprint: number, mark: number): boolean {
    const marks = this.#marks
    const shift = shifts[Math.floor(this.#misses / placesMax) % shifts.length] ?? 0
    const first = ((fingerprint >>> shift) % (placesMax / ways)) * ways
    let taken = first + (Math.imul(this.#misses, 0x9e3779b1) >>> (32 - waysBits))
    for (let place = first; place < first + ways; place++) {
      if (marks[place] === mark) return true
      if (marks[place] === 0) taken = place
    }
    marks[taken] = mark
    this.#misses++
    return false
  }
}
