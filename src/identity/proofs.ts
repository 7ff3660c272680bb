import { createHmac, hash } from 'node:crypto'
import { deriveKeys, isSameText, type KeySource } from '#platform/secrets/sealing.ts'
import type { Clock, EpochMs } from '#platform/time.ts'
import { createProofKeyReader } from './issuers/public-keys.ts'
import type { ProofReplays } from './proof-replays.ts'
import { isType, type ReadJwt, readJwt } from './tokens/jwt.ts'

/** What a proof has to be about. */
export interface ProvenRequest {
  readonly method: string
  /** Whether the URL is that of the request, its query and fragment aside. */
  isUrl(htu: string): boolean
  /** The access token that comes with it; undefined = there is none, as in a request for a token. */
  readonly token: string | undefined
}

/** A proof that is right, but may have been used before. */
export interface ReadProof {
  /** The thumbprint of its key. */
  readonly jkt: string
  /** For ProofReplays. */
  readonly id: string
  readonly issuedAt: EpochMs
}

/** `nonce`: all of it is right except for its nonce, which is missing or too old. */
export type ProofVerdict =
  | { readonly kind: 'valid'; readonly proof: ReadProof }
  | { readonly kind: 'nonce' }
  | { readonly kind: 'invalid'; readonly reason: string }

/** Proofs that the sender of a request has the private key of a token: DPoP (RFC 9449). */
export interface Proofs {
  /** Checks everything except whether it was used before (RFC 9449 4.3). @param proofs the values of the field DPoP */
  read(proofs: readonly string[], request: ProvenRequest): ProofVerdict
  /** Uses it. @returns false where it may have been used before */
  use(proof: ReadProof): boolean | Promise<boolean>
  /** The nonce that clients are to use from now on; undefined = none is asked for. */
  nonce(): string | undefined
}

interface ProofsOptions {
  readonly replays: ProofReplays
  /** undefined = none are asked for. */
  readonly nonces: ProofNonces | undefined
  /** How old a proof may be. */
  readonly lifetimeMs: number
  readonly clockToleranceMs: number
  readonly clock: Clock
}

const proofType = 'dpop+jwt'
/** More than any proof has: an RSA key of 8,192 bits takes 1.4 KiB, and its signature as much. */
const proofLengthMax = 8_192
const jtiLengthMax = 1_024

export function createProofs(options: ProofsOptions): Proofs {
  const { replays, nonces, lifetimeMs, clockToleranceMs, clock } = options
  const readKey = createProofKeyReader()

  function read(proofs: readonly string[], request: ProvenRequest): ProofVerdict {
    const jwt = readOnly(proofs)
    if (typeof jwt === 'string') return invalid(jwt)
    const key = readKey(jwt)
    if ('wrong' in key) return invalid(key.wrong)
    const wrong = wrongClaim(jwt.payload, request)
    if (wrong !== undefined) return invalid(wrong)
    if (!key.hasSigned(jwt.token)) return invalid('bad signature')
    if (nonces && !nonces.isValid(jwt.payload.nonce)) return { kind: 'nonce' }
    const { jti, iat } = jwt.payload
    const id = hash('sha256', `${key.jkt} ${jti}`, 'base64url')
    return { kind: 'valid', proof: { jkt: key.jkt, id, issuedAt: Number(iat) * 1_000 } }
  }

  function wrongClaim(
    { jti, htm, htu, iat, ath }: Readonly<Record<string, unknown>>,
    { method, isUrl, token }: ProvenRequest,
  ): string | undefined {
    if (typeof jti !== 'string' || jti === '' || jti.length > jtiLengthMax)
      return 'jti is missing or too long'
    if (htm !== method) return 'htm is not the method'
    if (typeof htu !== 'string' || !isUrl(htu)) return 'htu is not the URL'
    if (typeof iat !== 'number') return 'iat is missing'
    const ageMs = clock() - iat * 1_000
    if (ageMs > lifetimeMs + clockToleranceMs) return 'iat is too far in the past'
    // NaN is neither.
    if (!(ageMs >= -clockToleranceMs)) return 'iat is in the future'
    if (token !== undefined && ath !== hash('sha256', token, 'base64url'))
      return 'ath does not match the token'
    return undefined
  }

  return {
    read,
    use: ({ id, issuedAt }) => replays.use(id, issuedAt, lifetimeMs + 2 * clockToleranceMs),
    nonce: () => nonces?.current(),
  }
}

/** The only proof, or why there is none. */
function readOnly([text, second]: readonly string[]): ReadJwt | string {
  if (text === undefined) return 'no proof was sent'
  if (second !== undefined) return 'more than one proof was sent'
  const jwt = text.length > proofLengthMax ? undefined : readJwt(text)
  if (!jwt) return 'it is not a JWT, or is too long'
  return jwt.wrong ?? (isType(jwt.header.typ, proofType) ? jwt : `typ is not ${proofType}`)
}

function invalid(reason: string): ProofVerdict {
  return { kind: 'invalid', reason }
}

/** Nonces that clients have to put into their proofs (RFC 9449 8), so that none can be made in advance. */
interface ProofNonces {
  /** Good for at least the lifetime of a proof, and for any request at any instance. */
  current(): string
  isValid(nonce: unknown): boolean
}

/** A nonce is the number of a span of time, and a MAC over it: none is stored. */
export function createProofNonces(sealingKeys: KeySource, lifetimeMs: number, clock: Clock): ProofNonces {
  const keys = deriveKeys(sealingKeys, 'proof-nonce')

  function nonceOf(key: Uint8Array, span: number): string {
    return `${span}.${createHmac('sha256', key).update(`${lifetimeMs} ${span}`).digest('base64url')}`
  }

  return {
    current: () => nonceOf(keys()[0], Math.floor(clock() / lifetimeMs)),
    isValid: (nonce) => {
      if (typeof nonce !== 'string') return false
      const now = Math.floor(clock() / lifetimeMs)
      // The clock of another instance may be ahead.
      const spans = [now, now - 1, now + 1]
      return keys().some((key) => spans.some((span) => isSameText(nonceOf(key, span), nonce)))
    },
  }
}
