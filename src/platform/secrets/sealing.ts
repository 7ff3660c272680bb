import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'

const nonceBytes = 12
const tagBytes = 16

/** Seals small secrets (AES-256-GCM); a secret that was sealed for one purpose cannot be unsealed for another. */
export interface Sealer {
  /** @param purpose what the secret is and whose, such as `secretKey:<account ID>` */
  seal(secret: string, purpose: string): Uint8Array
  /** undefined if it was sealed with another key or for another purpose, or has been tampered with. */
  unseal(sealed: Uint8Array, purpose: string): string | undefined
}

/** @param sealingKeys the first seals; all of them unseal */
export function createSealer(sealingKeys: KeySource): Sealer {
  const keys = deriveKeys(sealingKeys, 'seal')

  function seal(secret: string, purpose: string): Uint8Array {
    const nonce = randomBytes(nonceBytes)
    const cipher = createCipheriv('aes-256-gcm', keys()[0], nonce).setAAD(Buffer.from(purpose))
    return Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()])
  }

  function unseal(sealed: Uint8Array, purpose: string): string | undefined {
    if (sealed.length < nonceBytes + tagBytes) return undefined
    for (const key of keys()) {
      const secret = unsealWith(key, sealed, purpose)
      if (secret !== undefined) return secret
    }
    return undefined
  }

  return { seal, unseal }
}

function unsealWith(key: Uint8Array, sealed: Uint8Array, purpose: string): string | undefined {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  })
  decipher.setAAD(Buffer.from(purpose)).setAuthTag(sealed.subarray(-tagBytes))
  try {
    const secret = decipher.update(sealed.subarray(nonceBytes, -tagBytes))
    return Buffer.concat([secret, decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}

/** Signs texts, with HMAC-SHA-256 in base64url. @param keys the first signs; MACs of all are accepted */
export function createMac(keys: KeySource) {
  const macOf = (key: Uint8Array, text: string) => createHmac('sha256', key).update(text).digest('base64url')

  return {
    sign: (text: string): string => macOf(keysOf(keys)[0], text),
    /** Compared as text, as another encoding of the same bits is not the same MAC. */
    isValid: (text: string, mac: string): boolean =>
      keysOf(keys).some((key) => isSameText(macOf(key, text), mac)),
  }
}

/** Keys for one use: new values are made with the first, and values of all are accepted. */
export type Keys = readonly [Uint8Array, ...Uint8Array[]]

/** One key, or several that a reload may replace, and which are therefore read at each use. */
export type KeySource = Uint8Array | (() => Keys)

export function keysOf(source: KeySource): Keys {
  return typeof source === 'function' ? source() : [source]
}

/** Derives separate keys for each use of the sealing keys, in the same order (RFC 5869). */
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

/** Derives a separate key for one use of a sealing key. */
export function deriveKey(sealingKey: Uint8Array, use: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', sealingKey, '', `gatehouse ${use}`, 32))
}

/** Names a key without revealing it: 48 bits of the SHA-256 of 256 secret bits, as eight base64 characters. */
export function keyIdOf(key: Uint8Array): string {
  return createHash('sha256').update(key).digest('base64').slice(0, 8)
}

/** Compares two digests or MACs in constant time; false if nothing is stored or the lengths differ. */
export function isSameBytes(stored: Uint8Array | undefined, given: Uint8Array): boolean {
  const isComparable = stored?.length === given.length
  // Compares even if nothing is stored, so that it takes the same time.
  const isSame = timingSafeEqual(isComparable ? stored : given, given)
  return isSame && isComparable
}

/** Compares two texts in constant time, as they are; false if one is missing. */
export function isSameText(stored: string | undefined, given: string | undefined): boolean {
  if (stored === undefined || given === undefined || stored.length !== given.length) return false
  return isSameBytes(Buffer.from(stored), Buffer.from(given))
}

/** Compares a digest as a text with one character for each byte, in constant time and without a buffer (hot). */
export function isSameCompact(stored: string, given: Uint8Array): boolean {
  let difference = stored.length ^ given.length
  for (let index = 0; index < given.length; index++) {
    // Beyond the end of a text there is NaN, which counts as 0: then the lengths differ.
    difference |= stored.charCodeAt(index) ^ (given[index] ?? 0)
  }
  return difference === 0
}

/** Compares a text with an equally long part of another, in constant time and without a buffer (hot). */
export function isSameSlice(stored: string, text: string, from: number): boolean {
  let difference = 0
  for (let index = 0; index < stored.length; index++)
    difference |= stored.charCodeAt(index) ^ text.charCodeAt(from + index)
  return difference === 0
}
