import { timingSafeEqual } from 'node:crypto'

/** Compares two digests or MACs in constant time; false where nothing is stored or the lengths differ. */
export function isSameBytes(stored: Uint8Array | undefined, given: Uint8Array): boolean {
  const isComparable = stored?.length === given.length
  // Compares even where nothing is stored, so that it takes the same time.
  const isSame = timingSafeEqual(isComparable ? stored : given, given)
  return isSame && isComparable
}

/** The same for texts, which are compared as they are written; false where one is missing. */
export function isSameText(stored: string | undefined, given: string | undefined): boolean {
  if (stored === undefined || given === undefined || stored.length !== given.length) return false
  return isSameBytes(Buffer.from(stored), Buffer.from(given))
}

/** The same for a digest with one character for each byte, without a buffer (hot). */
export function isSameCompact(stored: string, given: Uint8Array): boolean {
  let difference = stored.length ^ given.length
  for (let index = 0; index < given.length; index++) {
    // Beyond its end a text has NaN, which counts as 0: the lengths differ then.
    difference |= stored.charCodeAt(index) ^ (given[index] ?? 0)
  }
  return difference === 0
}

/** The same for a text and the part of another that begins at an index and is as long, without a buffer (hot). */
export function isSameSlice(stored: string, text: string, from: number): boolean {
  let difference = 0
  for (let index = 0; index < stored.length; index++)
    difference |= stored.charCodeAt(index) ^ text.charCodeAt(from + index)
  return difference === 0
}
