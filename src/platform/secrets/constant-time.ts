import { timingSafeEqual } from 'node:crypto'

/** Compares two digests or MACs in constant time; false if nothing is stored or the lengths differ. */
export function isSameBytes(stored: Uint8Array | undefined, given: Uint8Array): boolean {
  const isComparable = stored?.length === given.length
  // Compares even if nothing is stored, so that it takes the same time.
  const isSame = timingSafeEqual(isComparable ? stored : given, given)
  return isSame && isComparable
}

/** Compares two texts in constant time, as they are; false if one is missing. */
export function isSameText(stored: string | undefined, given: string | undefined): boolean {
  if (stored === undefined || given === undefined || stored.length !== given.length) return false
  return isSameBytes(Buffer.from(stored), Buffer.from(given))
}

/** Compares a digest as a text with one character for each byte, in constant time and without a buffer (hot). */
export function isSameCompact(stored: string, given: Uint8Array): boolean {
  let difference = stored.length ^ given.length
  for (let index = 0; index < given.length; index++) {
    // Beyond the end of a text there is NaN, which counts as 0: then the lengths differ.
    difference |= stored.charCodeAt(index) ^ (given[index] ?? 0)
  }
  return difference === 0
}

/** Compares a text with an equally long part of another, in constant time and without a buffer (hot). */
export function isSameSlice(stored: string, text: string, from: number): boolean {
  let difference = 0
  for (let index = 0; index < stored.length; index++)
    difference |= stored.charCodeAt(index) ^ text.charCodeAt(from + index)
  return difference === 0
}
