/**
 * A text of its own, for what is kept: a piece of a head otherwise keeps the whole head in memory, with the
 * credentials in it.
 */
export function copyOf(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}
