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
