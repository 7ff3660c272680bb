/** A key or token of letters and digits that differs in its last character, and so is wrong. */
export function tamper(key: string): string {
  return key.slice(0, -1) + (key.endsWith('a') ? 'b' : 'a')
}
