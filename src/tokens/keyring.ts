import { GatehouseError } from '../errors.ts'
import type { Algorithm } from './key-material.ts'
import { currentSigner, type SigningKey } from './signing-keys.ts'

/** A public key as a JSON Web Key (RFC 7517). */
export type Jwk = Readonly<Record<string, unknown>>

/** The signing keys that the process knows now; replaced as a whole when they change. */
export interface Keyring {
  /** @throws GatehouseError `store-unavailable` while none has been loaded */
  signer(now: number): SigningKey
  /** The key with this ID. @throws the same */
  find(kid: string): SigningKey | undefined
  /** Public keys (RFC 7517); a secret is never among them. @throws the same */
  jwks(): { readonly keys: readonly Jwk[] }
  isLoaded(): boolean
  replace(keys: readonly SigningKey[]): void
}

export function createKeyring(algorithm: Algorithm): Keyring {
  let byKid: ReadonlyMap<string, SigningKey> | undefined

  function loaded(): ReadonlyMap<string, SigningKey> {
    if (!byKid) throw new GatehouseError('store-unavailable')
    return byKid
  }

  function signer(now: number): SigningKey {
    const key = currentSigner([...loaded().values()], algorithm, now)
    if (!key) throw new GatehouseError('store-unavailable')
    return key
  }

  return {
    signer,
    find: (kid) => loaded().get(kid),
    jwks: () => ({ keys: [...loaded().values()].flatMap(toJwk) }),
    isLoaded: () => byKid !== undefined,
    replace: (keys) => {
      byKid = new Map(keys.map((key) => [key.kid, key]))
    },
  }
}

function toJwk({ kid, material: { algorithm, publicKey } }: SigningKey): Jwk[] {
  if (algorithm === 'HS256') return []
  return [{ ...publicKey.export({ format: 'jwk' }), kid, alg: algorithm, use: 'sig' }]
}
