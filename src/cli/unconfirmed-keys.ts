/** What is printed in place of a new key where the store has not confirmed that it was saved. */
export function unconfirmedKeyLines(kind: 'secret' | 'API', key: string): string[] {
  return [`New ${kind} key (unconfirmed: valid only if the change was saved):`, `  ${key}`]
}
