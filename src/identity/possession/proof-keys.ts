import { constants, hash, type KeyObject, verify } from 'node:crypto'
import { isRecord } from '#platform/json.ts'
import { createLru } from '../cache/lru.ts'
import type { IssuerAlgorithm } from '../issuers/issuer.ts'
import { readPublicJwk } from '../issuers/public-keys.ts'
import { thumbprintOf } from '../tokens/key-material.ts'
import type { ReadJwt } from '../tokens/read-jwt.ts'

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

/** @returns why no proof with this header is valid, in words for the log */
type ReadProofKey = (proof: ReadJwt) => ProofKey | { readonly wrong: string }

/** How many are kept: a client sends the same header with each proof. */
const keysMax = 1_000

/** The type of key that RFC 7518 and RFC 8037 name for each, as public-keys.ts has it. */
const keyAlgorithms: Readonly<Record<ProofAlgorithm, IssuerAlgorithm>> = {
  ES256: 'ES256',
  ES384: 'ES384',
  EdDSA: 'EdDSA',
  Ed25519: 'EdDSA',
  RS256: 'RS256',
  PS256: 'PS256',
}

export function createProofKeyReader(): ReadProofKey {
  const known = createLru<ProofKey>(keysMax)

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
  const read = readPublicJwk(jwk, [keyAlgorithms[algorithm]])
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
