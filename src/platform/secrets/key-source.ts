import { createHash, hkdfSync } from 'node:crypto'

/** Keys for one use: the first makes, all are accepted. */
export type Keys = readonly [Uint8Array, ...Uint8Array[]]

/** One key, or several that a reload may replace, and which are therefore asked for at each use. */
export type KeySource = Uint8Array | (() => Keys)

/** The keys that a source has now. */
export function keysOf(source: KeySource): Keys {
  return typeof source === 'function' ? source() : [source]
}

/** Keys of their own for each use of the sealing keys, in the same order (RFC 5869). */
export function deriveKeys(sealingKeys: KeySource, use: string): () => Keys {
  let from: Keys | undefined
  let derived: Keys | undefined
  return () => {
    const keys = typeof sealingKeys === 'function' ? sealingKeys() : (from ?? [sealingKeys])
    if (derived === undefined || keys !== from) {
      const [current, ...others] = keys
      derived = [deriveKey(current, use), ...others.map((key) => deriveKey(key, use))]
      from = keys
    }
    return derived
  }
}

/** A key of its own for a use of one sealing key. */
export function deriveKey(sealingKey: Uint8Array, use: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', sealingKey, '', `gatehouse ${use}`, 32))
}

/** Names a key without revealing it: 48 bits of the SHA-256 of 256 secret ones, as eight characters of base64. */
export function keyIdOf(key: Uint8Array): string {
  return createHash('sha256').update(key).digest('base64').slice(0, 8)
}
