/**
 * A copy of a text that is to be kept: as a slice of a head it would keep the whole head in memory, with the
 * credentials in it.
 */
export function copyString(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}
