import { timingSafeEqual } from 'node:crypto'

/** Compares two digests as texts, in constant time; false where one is missing. */
export function isSameText(stored: string | undefined, given: string | undefined): boolean {
  if (stored === undefined || given === undefined || stored.length !== given.length) return false
  return timingSafeEqual(Buffer.from(stored), Buffer.from(given))
}
