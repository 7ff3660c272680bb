import { createLru } from './lru.ts'

/** Secret keys that are known to be wrong for good: a key never becomes valid again. */
export interface SpentKeys {
  /** @param digest of a key that was reset, or refused by what the store said just then */
  note(digest: Uint8Array): void
  has(digest: Uint8Array): boolean
  clear(): void
}

/** @param digestsMax how many are remembered: those used last */
export function createSpentKeys(digestsMax: number): SpentKeys {
  const spent = createLru<typeof isSpent>(digestsMax)

  return {
    note: (digest) => spent.set(textOf(digest), isSpent),
    has: (digest) => spent.get(textOf(digest)) !== undefined,
    clear: spent.clear,
  }
}

const isSpent = {}

function textOf(digest: Uint8Array): string {
  return Buffer.from(digest).toString('base64')
}
