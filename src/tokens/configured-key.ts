import type { KeyMaterial } from './key-material.ts'
import type { SigningKey } from './signing-keys.ts'

/** A signing key from the config, rather than one that is generated and kept in the store. */
export interface ConfiguredKey {
  readonly kid: string
  /** All of them verify; one with `sign` signs, too. */
  readonly use: 'sign' | 'verify'
  readonly material: KeyMaterial
}

/** The same for a keyring: a key that signs does so at once, without being announced first. */
export function toSigningKey({ kid, use, material }: ConfiguredKey): SigningKey {
  const signsFrom = use === 'sign' ? 0 : Number.POSITIVE_INFINITY
  return { kid, algorithm: material.algorithm, material, createdAt: 0, signsFrom }
}
