/**
 * A copy of a text that is to be kept: as a slice of a head it would keep the whole head in memory, with the
 * credentials in it. Any text: what comes from a head is Latin-1, but an e-mail address or a name need not be.
 */
export function copyString(text: string): string {
  const copy = Buffer.from(text, 'latin1').toString('latin1')
  return copy === text ? copy : Buffer.from(text, 'utf16le').toString('utf16le')
}

/**
 * The same, but for a text that is kept already: what many have alike is kept once.
 * @param kept undefined = none is
 */
export function sharedCopy(text: string, kept: string | undefined): string {
  return text === kept ? kept : copyString(text)
}
