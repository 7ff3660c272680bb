import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { EpochMs } from '#platform/time.ts'
import type { Algorithm, KeyMaterial } from './key-material.ts'
import { currentSigner, type SigningKey } from './signing-keys.ts'

/** A public key as a JSON Web Key (RFC 7517). */
type Jwk = Readonly<Record<string, unknown>>

/** The signing keys loaded in the process; replaced as a whole when they change. */
export interface Keyring {
  /** @throws GatehouseError `store-unavailable` while no keys have been loaded, or their use is suspended */
  signer(now: EpochMs): SigningKey
  /**
   * The key with this ID.
   * @throws as `signer` does
   */
  find(kid: string): SigningKey | undefined
  /** Whether there may be a key with this ID that is not loaded yet: a retired key is never restored. */
  mayBeNew(kid: string): boolean
  /**
   * Public keys (RFC 7517), never a secret.
   * @throws as `signer` does
   */
  jwks(): { readonly keys: readonly Jwk[] }
  isLoaded(): boolean
  /** Uses no key until the next `replace`, as any may have been retired. */
  suspend(): void
  replace(keys: readonly SigningKey[]): void
}

/** How many retired keys are remembered: far more than are retired within a token's lifetime. */
const retiredMax = 1_000

/** @param origin `config`: there are no other keys; `store`: others may be added */
export function createKeyring(algorithm: Algorithm, origin: 'config' | 'store' = 'store'): Keyring {
  let byKid: ReadonlyMap<string, SigningKey> | undefined
  let isSuspended = false
  const retired = new Set<string>()

  function loaded(): ReadonlyMap<string, SigningKey> {
    if (!byKid || isSuspended) throw new GatehouseError('store-unavailable')
    return byKid
  }

  function signer(now: EpochMs): SigningKey {
    const key = currentSigner([...loaded().values()], algorithm, now)
    if (!key) throw new GatehouseError('store-unavailable')
    return key
  }

  return {
    signer,
    find: (kid) => loaded().get(kid),
    jwks: () => ({ keys: [...loaded().values()].flatMap(toJwk) }),
    mayBeNew: (kid) => origin === 'store' && !loaded().has(kid) && !retired.has(kid),
    isLoaded: () => byKid !== undefined && !isSuspended,
    suspend: () => {
      isSuspended = true
    },
    replace: (keys) => {
      isSuspended = false
      const before = byKid?.keys() ?? []
      byKid = new Map(keys.map((key) => [key.kid, key]))
      for (const kid of before) if (!byKid.has(kid)) retired.add(kid)
      for (const kid of retired) if (byKid.has(kid) || retired.size > retiredMax) retired.delete(kid)
    },
  }
}

function toJwk({ kid, material: { algorithm, publicKey } }: SigningKey): Jwk[] {
  if (algorithm === 'HS256') return []
  return [{ ...publicKey.export({ format: 'jwk' }), kid, alg: algorithm, use: 'sig' }]
}

/** A signing key from the config, as opposed to one that is generated and stored. */
export interface ConfiguredKey {
  readonly kid: string
  /** All keys verify; those with `sign` sign, too. */
  readonly use: 'sign' | 'verify'
  readonly material: KeyMaterial
}

/** A key for the keyring: if it signs, then at once, without being announced first. */
export function toSigningKey({ kid, use, material }: ConfiguredKey): SigningKey {
  const signsFrom = use === 'sign' ? 0 : Number.POSITIVE_INFINITY
  return { kid, algorithm: material.algorithm, material, createdAt: 0, signsFrom }
}
