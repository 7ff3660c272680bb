import { OperatorError } from '#platform/errors/operator-error.ts'
import { randomText } from '#platform/secrets/key-format.ts'
import type { Sealer } from '#platform/secrets/sealing.ts'
import type { Clock, EpochMs } from '#platform/time.ts'
import type { AuditEntry } from '#store/audit-entry.ts'
import type { SigningKeyStore, StoredSigningKey } from '#store/signing-keys.ts'
import {
  type Algorithm,
  generateKeyMaterial,
  type KeyMaterial,
  keyText,
  parseKeyMaterial,
  thumbprintOf,
} from './key-material.ts'

export interface SigningKey extends Pick<StoredSigningKey, 'kid' | 'algorithm' | 'createdAt'> {
  /** When it begins to sign; until then it is only published in the JWKS. Infinity = it only verifies. */
  readonly signsFrom: EpochMs
  readonly material: KeyMaterial
}

/**
 * How long a key is announced before it signs: twice as long as the JWKS may be cached, so that every verifier knows
 * the key when it sees the first token signed with it.
 */
export const announcedMs = 600_000

/** max-age of the JWKS. */
export const jwksMaxAgeS = announcedMs / 2 / 1_000

/**
 * The key that signs now: the newest of this algorithm whose signsFrom has passed, else the next one. It is the newest
 * that counts, not the one that began to sign last: after `rotate('now')` a key that was announced before never signs,
 * as it may have leaked too.
 */
export function currentSigner<Key extends Pick<SigningKey, 'algorithm' | 'createdAt' | 'signsFrom'>>(
  keys: readonly Key[],
  algorithm: Algorithm,
  now: EpochMs,
): Key | undefined {
  const candidates = keys.filter(
    (key) => key.algorithm === algorithm && key.signsFrom !== Number.POSITIVE_INFINITY,
  )
  const newest = candidates
    .filter(({ signsFrom }) => signsFrom <= now)
    .toSorted((a, b) => a.createdAt - b.createdAt || a.signsFrom - b.signsFrom)
    .at(-1)
  return newest ?? candidates.toSorted((a, b) => a.signsFrom - b.signsFrom)[0]
}

/** The keys in the store, as far as they can be unsealed. */
interface UnsealedKeys {
  readonly keys: readonly SigningKey[]
  /** IDs of the keys that the sealing key cannot decrypt. */
  readonly unreadable: readonly string[]
}

/** The signing keys in the store, sealed. */
export interface SigningKeys {
  /**
   * Reads each key separately, so that one that cannot be unsealed does not hide the others. Creates the first key of
   * the algorithm if there is none, unless some key cannot be unsealed, as this may then be the wrong sealing key.
   */
  read(): Promise<UnsealedKeys>
  /**
   * The keys that can be unsealed; creates the first one as `read` does.
   * @throws OperatorError if a key cannot be unsealed, and none of the others can sign
   */
  load(): Promise<readonly SigningKey[]>
  /** @throws OperatorError if a key cannot be unsealed: this is not the sealing key of the gateway */
  assertReadable(): Promise<void>
  /** The stored keys, without unsealing. */
  list(): Promise<readonly StoredSigningKey[]>
  /**
   * Adds a key that signs once announced, or at once, and then until a later one begins.
   * @param entry for the audit log; undefined = none
   */
  rotate(when: 'announced' | 'now', entry?: AuditEntryOf): Promise<SigningKey>
  /**
   * Removes a key: its tokens become invalid. A key that cannot be unsealed may always be removed: it cannot sign.
   * @throws OperatorError for an unknown key, and for the last key that can sign
   */
  retire(kid: string, entry?: AuditEntryOf): Promise<void>
}

/** Creates the audit entry for an action on a key. */
type AuditEntryOf = (kid: string) => AuditEntry

interface SigningKeysOptions {
  readonly store: Omit<SigningKeyStore, 'resealSigningKey'>
  readonly sealer: Sealer
  readonly algorithm: Algorithm
  readonly clock: Clock
}

export function createSigningKeys({ store, sealer, algorithm, clock }: SigningKeysOptions): SigningKeys {
  function create(afterMs: number): SigningKey {
    const material = generateKeyMaterial(algorithm)
    const createdAt = clock()
    return { kid: createKid(material), algorithm, material, createdAt, signsFrom: createdAt + afterMs }
  }

  async function readStored(): Promise<UnsealedKeys> {
    return unsealAll(await store.listSigningKeys(), sealer)
  }

  async function read(): Promise<UnsealedKeys> {
    const found = await readStored()
    const isComplete = found.keys.some((key) => key.algorithm === algorithm)
    return isComplete || found.unreadable.length > 0 ? found : addFirstKey()
  }

  /** If an instance with another sealing key creates its first key at the same time, ours is removed again. */
  async function addFirstKey(): Promise<UnsealedKeys> {
    const first = create(0)
    const isAdded = await store.addSigningKey(sealKey(first, sealer), { onlyIfNoSigner: true })
    const { keys, unreadable } = await readStored()
    if (!isAdded || unreadable.length === 0) return { keys, unreadable }
    await store.retireSigningKey(first.kid)
    return { keys: keys.filter(({ kid }) => kid !== first.kid), unreadable }
  }

  async function rotate(when: 'announced' | 'now', entry?: AuditEntryOf): Promise<SigningKey> {
    const made = create(when === 'now' ? 0 : announcedMs)
    const others = await store.listSigningKeys()
    // Newer than any other, even one that was made while the clock was ahead, as the newest signs.
    const createdAt = Math.max(made.createdAt, ...others.map((other) => other.createdAt + 1))
    const key = { ...made, createdAt }
    await store.addSigningKey(sealKey(key, sealer), { audit: entry?.(key.kid) })
    return key
  }

  async function retire(kid: string, entry?: AuditEntryOf): Promise<void> {
    const stored = await store.listSigningKeys()
    if (!stored.some((key) => key.kid === kid)) {
      throw new OperatorError(`there is no signing key ${kid}`, { hint: 'See: gatehouse signing-keys list' })
    }
    const { keys, unreadable } = unsealAll(stored, sealer)
    const rest = keys.filter((key) => key.kid !== kid)
    if (!unreadable.includes(kid) && !currentSigner(rest, algorithm, clock())) {
      throw new OperatorError(`${kid} is the only key that can sign`, {
        hint: 'Add another first: gatehouse signing-keys rotate',
      })
    }
    await store.retireSigningKey(kid, entry?.(kid))
  }

  return {
    read,
    load: async () => {
      const found = await read()
      assertSigner(found, algorithm, clock())
      return found.keys
    },
    assertReadable: async () => {
      const [kid] = (await readStored()).unreadable
      if (kid !== undefined) throw unreadableError(kid)
    },
    list: () => store.listSigningKeys(),
    rotate,
    retire,
  }
}

/** @throws OperatorError where a key cannot be unsealed, and none of the others can sign */
export function assertSigner({ keys, unreadable }: UnsealedKeys, algorithm: Algorithm, now: EpochMs): void {
  const [kid] = unreadable
  if (kid !== undefined && !currentSigner(keys, algorithm, now)) throw unreadableError(kid)
}

/** Thumbprint of the public key; a secret has a random ID. */
function createKid({ algorithm, publicKey }: KeyMaterial): string {
  return algorithm === 'HS256' ? randomText(43) : thumbprintOf(publicKey)
}

function sealKey({ material, ...key }: SigningKey, sealer: Sealer): StoredSigningKey {
  const { algorithm, privateKey, publicKey } = material
  return {
    ...key,
    sealed: sealer.seal(keyText(privateKey ?? publicKey, 'pkcs8'), signingKeyPurpose(key.kid)),
    publicKey: algorithm === 'HS256' ? undefined : keyText(publicKey, 'spki'),
  }
}

function unsealAll(stored: readonly StoredSigningKey[], sealer: Sealer): UnsealedKeys {
  const read = stored.map((key) => ({ kid: key.kid, key: unseal(key, sealer) }))
  return {
    keys: read.flatMap(({ key }) => key ?? []),
    unreadable: read.flatMap(({ kid, key }) => (key ? [] : [kid])),
  }
}

function unreadableError(kid: string): OperatorError {
  return new OperatorError(`the signing key ${kid} cannot be unsealed with this sealing key`, {
    hint: 'Restore the previous sealing key. If it is lost: gatehouse signing-keys retire KID',
  })
}

function unseal({ sealed, publicKey: _, ...key }: StoredSigningKey, sealer: Sealer): SigningKey | undefined {
  const text = sealer.unseal(sealed, signingKeyPurpose(key.kid))
  if (text === undefined) return undefined
  // The cast is sound: a text of an unknown algorithm is PEM, whose own algorithm is then used.
  const material = parseKeyMaterial(text, 'private', key.algorithm as Algorithm)
  return 'unfit' in material ? undefined : { ...key, material }
}

export function signingKeyPurpose(kid: string): string {
  return `signingKey:${kid}`
}
