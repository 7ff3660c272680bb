/**
 * A copy of a text that is to be kept: as a slice of a head it would keep the whole head in memory, with the
 * credentials in it.
 */
export function copyString(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}

/**
 * The same, but for a text that is kept already: what many have alike is kept once.
 * @param kept undefined = none is
 */
export function sharedCopy(text: string, kept: string | undefined): string {
  return text === kept ? kept : copyString(text)
}
