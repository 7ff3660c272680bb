import { constants, createPublicKey, hash, type KeyObject, verify, type webcrypto } from 'node:crypto'
import { isRecord } from '#platform/json.ts'
import { memoize } from '#platform/memoize.ts'
import { createLru } from '../cache/bounded-caches.ts'
import { createSignatureVerifier, type ReadJwt } from '../tokens/jwt.ts'
import { thumbprintOf } from '../tokens/key-material.ts'
import type { IssuerAlgorithm } from './issuer.ts'

export interface PublicKey {
  /** undefined = it has none. */
  readonly kid: string | undefined
  /** The algorithms that its type and its `alg` allow, and that the issuer may use; at least one. */
  readonly algorithms: readonly IssuerAlgorithm[]
  /** Equal for equal keys with the same ID and algorithms. */
  readonly fingerprint: string
  /** Verifies signatures, and nothing else. */
  verifierOf(algorithm: IssuerAlgorithm): (token: string) => unknown
}

/** How many keys a set may have: issuers publish a handful, and each token is matched against all. */
export const publicKeysMax = 100
/** Smaller keys can be factored; larger ones take so long to verify that tokens could keep the process busy. */
const rsaBits = { min: 2_048, max: 8_192 }
/** A smaller exponent makes signatures easy to forge, with 1 trivial (FIPS 186-5 A.1.1). */
const rsaExponentMin = 65_537n

const rsaAlgorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] as const
const curveAlgorithms: Readonly<Record<string, IssuerAlgorithm>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
}

/**
 * Reads a JSON Web Key Set (RFC 7517). Keys that cannot verify tokens of the issuer are skipped: those of other types,
 * for encryption, too weak, symmetric or private.
 * @throws Error, in words for the log, if it is not a key set, has too many keys, or none can be used
 */
export function parsePublicKeys(
  document: unknown,
  accepted: readonly IssuerAlgorithm[],
): readonly PublicKey[] {
  if (!isRecord(document) || !Array.isArray(document.keys)) throw new Error('it is not a JSON Web Key Set')
  if (document.keys.length > publicKeysMax) throw new Error(`it has more than ${publicKeysMax} keys`)
  const keys = document.keys.flatMap((jwk: unknown) => (isRecord(jwk) ? readKey(jwk, accepted) : []))
  if (keys.length === 0) throw new Error(`it has no key for ${accepted.join(', ')}`)
  return keys
}

function readKey(
  jwk: Readonly<Record<string, unknown>>,
  accepted: readonly IssuerAlgorithm[],
): readonly PublicKey[] {
  const { kid } = jwk
  if (kid !== undefined && typeof kid !== 'string') return []
  const read = readPublicJwk(jwk, accepted)
  if (!read) return []
  const { key, algorithms } = read
  const fingerprint = `${kid} ${algorithms} ${key.export({ format: 'der', type: 'spki' }).toString('base64')}`
  const verifierOf = memoize((algorithm: IssuerAlgorithm) => createSignatureVerifier(key, algorithm))
  return [{ kid, algorithms, fingerprint, verifierOf }]
}

/** A key that can verify signatures, and with which of these algorithms; undefined = it is none, or too weak. */
function readPublicJwk(
  jwk: Readonly<Record<string, unknown>>,
  accepted: readonly IssuerAlgorithm[],
): { readonly key: KeyObject; readonly algorithms: readonly IssuerAlgorithm[] } | undefined {
  const { kty, alg, use, key_ops: operations } = jwk
  // A private key that was published is worthless.
  if (kty === 'oct' || Object.hasOwn(jwk, 'd')) return undefined
  if (use !== undefined && use !== 'sig') return undefined
  if (Array.isArray(operations) && !operations.includes('verify')) return undefined
  const key = importKey(jwk)
  if (!key) return undefined
  const named = alg === 'Ed25519' ? 'EdDSA' : alg
  const algorithms = algorithmsOf(key).filter(
    (one) => accepted.includes(one) && (named === undefined || named === one),
  )
  return algorithms.length === 0 ? undefined : { key, algorithms }
}

function importKey(jwk: Readonly<Record<string, unknown>>): KeyObject | undefined {
  try {
    // The cast is sound: anything that is not a valid key is refused here.
    return createPublicKey({ format: 'jwk', key: jwk as webcrypto.JsonWebKey })
  } catch {
    return undefined
  }
}

function algorithmsOf({
  asymmetricKeyType,
  asymmetricKeyDetails: details = {},
}: KeyObject): readonly IssuerAlgorithm[] {
  switch (asymmetricKeyType) {
    case 'rsa': {
      const { modulusLength: bits = 0, publicExponent = 0n } = details
      const isSafe = bits >= rsaBits.min && bits <= rsaBits.max && publicExponent >= rsaExponentMin
      return isSafe ? rsaAlgorithms : []
    }
    case 'ec': {
      const algorithm = curveAlgorithms[details.namedCurve ?? '']
      return algorithm === undefined ? [] : [algorithm]
    }
    case 'ed25519':
      return ['EdDSA']
    default:
      return []
  }
}

/** The JWS algorithms that proofs may be signed with: each is asymmetric, and quick to verify. */
export const proofAlgorithms = ['ES256', 'ES384', 'EdDSA', 'Ed25519', 'RS256', 'PS256'] as const

type ProofAlgorithm = (typeof proofAlgorithms)[number]

/** The key in the header of a proof. */
interface ProofKey {
  /** Its thumbprint (RFC 9449 6.1), as base64url. */
  readonly jkt: string
  /** Whether it has signed a proof with this header. */
  hasSigned(token: string): boolean
}

/** @returns the key, or why no proof with this header can be valid, in words for the log */
type ReadProofKey = (proof: ReadJwt) => ProofKey | { readonly wrong: string }

/** How many keys of proofs are kept: a client sends the same header with each proof. */
const proofKeysMax = 1_000

/** Under which name the keys for each algorithm of a proof are known here: `Ed25519` is a newer name for `EdDSA`. */
const proofKeyAlgorithms: Readonly<Record<ProofAlgorithm, IssuerAlgorithm>> = {
  ES256: 'ES256',
  ES384: 'ES384',
  EdDSA: 'EdDSA',
  Ed25519: 'EdDSA',
  RS256: 'RS256',
  PS256: 'PS256',
}

export function createProofKeyReader(): ReadProofKey {
  const known = createLru<ProofKey>(proofKeysMax)

  return (proof) => {
    const digest = hash('sha256', proof.token.slice(0, proof.token.indexOf('.')), 'base64url')
    const found = known.get(digest)
    if (found) return found
    const key = readProofKey(proof)
    if ('jkt' in key) known.set(digest, key)
    return key
  }
}

function readProofKey({ header }: ReadJwt): ReturnType<ReadProofKey> {
  const algorithm = proofAlgorithms.find((one) => one === header.alg)
  if (algorithm === undefined) return { wrong: 'wrong alg' }
  const { jwk } = header
  if (!isRecord(jwk)) return { wrong: 'no jwk' }
  if (Object.hasOwn(jwk, 'd') || Object.hasOwn(jwk, 'k')) return { wrong: 'jwk is a private key' }
  const read = readPublicJwk(jwk, [proofKeyAlgorithms[algorithm]])
  if (!read) return { wrong: 'jwk is not a key for alg, or is too weak' }
  const { key } = read
  return { jkt: thumbprintOf(key), hasSigned: (token) => hasSigned(token, algorithm, key) }
}

function hasSigned(token: string, algorithm: ProofAlgorithm, key: KeyObject): boolean {
  const end = token.lastIndexOf('.')
  const signed = Buffer.from(token.slice(0, end), 'latin1')
  const signature = Buffer.from(token.slice(end + 1), 'base64url')
  switch (algorithm) {
    case 'ES256':
      return verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, signature)
    case 'ES384':
      return verify('sha384', signed, { key, dsaEncoding: 'ieee-p1363' }, signature)
    case 'EdDSA':
    case 'Ed25519':
      return verify(null, signed, key, signature)
    case 'RS256':
      return verify('sha256', signed, key, signature)
    case 'PS256':
      return verify(
        'sha256',
        signed,
        {
          key,
          padding: constants.RSA_PKCS1_PSS_PADDING,
          saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
        },
        signature,
      )
    default:
      return algorithm satisfies never
  }
}
