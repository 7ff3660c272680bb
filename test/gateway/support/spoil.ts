/** A key that differs in its last character: well-formed but for its checksum, and wrong. */
export function spoil(key: string): string {
  return key.slice(0, -1) + (key.endsWith('a') ? 'b' : 'a')
}
