import { createLru } from './lru.ts'

/** Secret keys that are known to be invalid for good: a key never becomes valid again. */
export interface RevokedKeys {
  /** @param digest of a key that was reset, or rejected by what the store has just returned */
  add(digest: Uint8Array): void
  has(digest: Uint8Array): boolean
  clear(): void
}

/** @param digestsMax how many are kept: those used last */
export function createRevokedKeys(digestsMax: number): RevokedKeys {
  const revoked = createLru<typeof isRevoked>(digestsMax)

  return {
    add: (digest) => revoked.set(textOf(digest), isRevoked),
    has: (digest) => revoked.get(textOf(digest)) !== undefined,
    clear: revoked.clear,
  }
}

const isRevoked = {}

function textOf(digest: Uint8Array): string {
  return Buffer.from(digest).toString('base64')
}
