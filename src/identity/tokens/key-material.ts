import {
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  generateKeyPairSync,
  hash,
  type KeyObject,
  randomBytes,
} from 'node:crypto'

/** The JWS algorithms (RFC 7518, RFC 8037) that access tokens can be signed with. */
export type Algorithm = 'ES256' | 'RS256' | 'EdDSA' | 'HS256'

/** The keys that sign and verify; for HS256 both are the same secret. */
export interface KeyMaterial {
  readonly algorithm: Algorithm
  /** undefined where only the public half is known. */
  readonly privateKey: KeyObject | undefined
  readonly publicKey: KeyObject
}

/** HS256 needs a secret at least as long as its digest (RFC 7518 3.2), RS256 2048 bits (RFC 7518 3.3). */
const secretBytesMin = 32
const rsaBitsMin = 2_048
/** A smaller exponent makes signatures easy to forge, with 1 trivial (FIPS 186-5 A.1.1). */
const rsaExponentMin = 65_537n

export function generateKeyMaterial(algorithm: Algorithm): KeyMaterial {
  switch (algorithm) {
    case 'HS256': {
      const secret = createSecretKey(randomBytes(secretBytesMin).toString('base64'), 'utf8')
      return { algorithm, privateKey: secret, publicKey: secret }
    }
    case 'ES256':
      return { algorithm, ...generateKeyPairSync('ec', { namedCurve: 'P-256' }) }
    case 'RS256':
      return { algorithm, ...generateKeyPairSync('rsa', { modulusLength: rsaBitsMin }) }
    case 'EdDSA':
      return { algorithm, ...generateKeyPairSync('ed25519') }
    default:
      return algorithm satisfies never
  }
}

/**
 * Reads a key in PEM, or the secret itself for HS256.
 * @returns the key, or why it cannot be used
 */
export function parseKeyMaterial(
  text: string,
  half: 'private' | 'public',
  algorithm: Algorithm,
): KeyMaterial | { readonly unfit: string } {
  if (!text.includes('-----BEGIN ')) return parseSecret(text, algorithm)
  try {
    const privateKey = half === 'private' ? createPrivateKey(text) : undefined
    const publicKey = createPublicKey(text)
    const actual = algorithmOf(publicKey)
    if (actual === undefined) return { unfit: 'must be a P-256, RSA or Ed25519 key' }
    const { modulusLength: bits = rsaBitsMin, publicExponent: exponent = rsaExponentMin } =
      publicKey.asymmetricKeyDetails ?? {}
    if (bits < rsaBitsMin) return { unfit: `is an RSA key of ${bits} bits: the minimum is ${rsaBitsMin}` }
    if (exponent < rsaExponentMin) {
      return { unfit: `is an RSA key with the exponent ${exponent}: the minimum is ${rsaExponentMin}` }
    }
    return { algorithm: actual, privateKey, publicKey }
  } catch {
    return { unfit: `contains no PEM ${half} key` }
  }
}

function parseSecret(text: string, algorithm: Algorithm): KeyMaterial | { readonly unfit: string } {
  if (algorithm !== 'HS256') return { unfit: 'contains no PEM key' }
  const bytes = Buffer.from(text)
  if (bytes.length < secretBytesMin) {
    return { unfit: `is a secret of ${bytes.length} bytes: the minimum is ${secretBytesMin}` }
  }
  const secret = createSecretKey(bytes)
  return { algorithm, privateKey: secret, publicKey: secret }
}

function algorithmOf(key: KeyObject): Algorithm | undefined {
  switch (key.asymmetricKeyType) {
    case 'rsa':
      return 'RS256'
    case 'ed25519':
      return 'EdDSA'
    case 'ec':
      return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? 'ES256' : undefined
    default:
      return undefined
  }
}

/** The key as PEM, or a secret as it is. */
export function keyText(key: KeyObject, type: 'pkcs8' | 'spki'): string {
  return key.type === 'secret' ? key.export().toString() : key.export({ format: 'pem', type }).toString()
}

/** The thumbprint of a public key (RFC 7638), SHA-256 as base64url. */
export function thumbprintOf(publicKey: KeyObject): string {
  const { crv, e, kty, n, x, y } = publicKey.export({ format: 'jwk' })
  // In alphabetical order; JSON leaves out undefined members.
  return hash('sha256', JSON.stringify({ crv, e, kty, n, x, y }), 'base64url')
}
