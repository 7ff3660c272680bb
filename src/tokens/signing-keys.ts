import { createHash, type KeyObject } from 'node:crypto'
import type { Sealer } from '../accounts/sealing.ts'
import { OperatorError } from '../errors.ts'
import { randomText } from '../random.ts'
import type { AuditEntry } from '../store/audit.ts'
import type { Store, StoredSigningKey } from '../store/store.ts'
import { type Algorithm, generateKeyMaterial, type KeyMaterial, parseKeyMaterial } from './key-material.ts'

export interface SigningKey {
  readonly kid: string
  readonly algorithm: string
  readonly createdAt: number
  /** From when it signs; before that it is announced. Infinity = it only verifies. */
  readonly signsFrom: number
  readonly material: KeyMaterial
}

/**
 * How long a key is announced before it signs: twice as long as anyone may cache the JWKS, so that every
 * verifier knows the key when it meets the first token of it.
 */
export const announcedMs = 600_000

/** max-age of the JWKS. */
export const jwksMaxAgeS = announcedMs / 2 / 1_000

/** The key that signs now: of this algorithm, the newest whose time has come, else the next to come. */
export function currentSigner<Key extends Pick<SigningKey, 'algorithm' | 'signsFrom'>>(
  keys: readonly Key[],
  algorithm: Algorithm,
  now: number,
): Key | undefined {
  const able = keys
    .filter((key) => key.algorithm === algorithm && key.signsFrom !== Number.POSITIVE_INFINITY)
    .toSorted((a, b) => a.signsFrom - b.signsFrom)
  return able.findLast(({ signsFrom }) => signsFrom <= now) ?? able[0]
}

/** Signing keys that are kept in the store, sealed. */
export interface SigningKeys {
  /**
   * All of them; makes the first of the algorithm where there is none.
   * @throws OperatorError where one cannot be unsealed
   */
  load(): Promise<readonly SigningKey[]>
  /** @throws OperatorError where one cannot be unsealed: this is not the sealing key of the gateway */
  assertReadable(): Promise<void>
  /** What is known of them without unsealing. */
  list(): Promise<readonly StoredSigningKey[]>
  /** Adds a key that signs once it has been announced, or at once. @param entry of the audit log, where it is written */
  rotate(when: 'announced' | 'now', entry?: EntryOf): Promise<SigningKey>
  /**
   * Removes a key: its tokens end. One that cannot be unsealed may always go: it cannot sign.
   * @throws OperatorError for an unknown key, and for the last that can sign
   */
  retire(kid: string, entry?: EntryOf): Promise<void>
}

/** What the audit log tells of an act on a key. */
export type EntryOf = (kid: string) => AuditEntry

export interface SigningKeysOptions {
  readonly store: Store
  readonly sealer: Sealer
  readonly algorithm: Algorithm
  /** Milliseconds since 1970. */
  readonly clock: () => number
}

export function createSigningKeys({ store, sealer, algorithm, clock }: SigningKeysOptions): SigningKeys {
  async function add(afterMs: number, unless?: 'signer', entry?: EntryOf): Promise<SigningKey> {
    const material = generateKeyMaterial(algorithm)
    const createdAt = clock()
    const signsFrom = createdAt + afterMs
    const key = { kid: createKid(material), algorithm, material, createdAt, signsFrom }
    await store.addSigningKey(sealKey(key, sealer), unless, entry?.(key.kid))
    return key
  }

  async function load(): Promise<readonly SigningKey[]> {
    const stored = await store.listSigningKeys()
    const isComplete = stored.some((key) => key.algorithm === algorithm)
    if (!isComplete) await add(0, 'signer')
    const keys = isComplete ? stored : await store.listSigningKeys()
    return keys.map((key) => unsealKey(key, sealer))
  }

  async function retire(kid: string, entry?: EntryOf): Promise<void> {
    const keys = await store.listSigningKeys()
    const retired = keys.find((key) => key.kid === kid)
    if (!retired) {
      throw new OperatorError(`there is no signing key ${kid}`, { hint: 'See: gatehouse signing-keys list' })
    }
    const rest = keys.filter((key) => key.kid !== kid)
    if (unseal(retired, sealer) && !currentSigner(rest, algorithm, clock())) {
      throw new OperatorError(`${kid} is the only key that can sign`, {
        hint: 'Add another first: gatehouse signing-keys rotate',
      })
    }
    await store.retireSigningKey(kid, entry?.(kid))
  }

  return {
    load,
    assertReadable: async () => {
      for (const key of await store.listSigningKeys()) unsealKey(key, sealer)
    },
    list: () => store.listSigningKeys(),
    rotate: (when, entry) => add(when === 'now' ? 0 : announcedMs, undefined, entry),
    retire,
  }
}

/** Thumbprint of the public key (RFC 7638); a secret has a random ID. */
function createKid({ algorithm, publicKey }: KeyMaterial): string {
  if (algorithm === 'HS256') return randomText(43)
  const { crv, e, kty, n, x, y } = publicKey.export({ format: 'jwk' })
  // In alphabetical order; what is undefined is left out.
  const canonical = JSON.stringify({ crv, e, kty, n, x, y })
  return createHash('sha256').update(canonical).digest('base64url')
}

function sealKey({ material, ...key }: SigningKey, sealer: Sealer): StoredSigningKey {
  const { algorithm, privateKey, publicKey } = material
  return {
    ...key,
    sealed: sealer.seal(keyText(privateKey ?? publicKey, 'pkcs8'), purposeOf(key.kid)),
    publicKey: algorithm === 'HS256' ? undefined : keyText(publicKey, 'spki'),
  }
}

function unsealKey(stored: StoredSigningKey, sealer: Sealer): SigningKey {
  const key = unseal(stored, sealer)
  if (key) return key
  throw new OperatorError(`the signing key ${stored.kid} cannot be unsealed with this sealing key`, {
    hint: 'Bring back the sealing key that was used before. Where it is lost: gatehouse signing-keys retire KID',
  })
}

function unseal({ sealed, publicKey: _, ...key }: StoredSigningKey, sealer: Sealer): SigningKey | undefined {
  const text = sealer.unseal(sealed, purposeOf(key.kid))
  if (text === undefined) return undefined
  // The cast is sound: a text of an unknown algorithm is PEM, whose own algorithm is then looked at.
  const material = parseKeyMaterial(text, 'private', key.algorithm as Algorithm)
  return 'unfit' in material ? undefined : { ...key, material }
}

/** PEM, or a secret as it is. */
export function keyText(key: KeyObject, type: 'pkcs8' | 'spki'): string {
  return key.type === 'secret' ? key.export().toString() : key.export({ format: 'pem', type }).toString()
}

function purposeOf(kid: string): string {
  return `signingKey:${kid}`
}
