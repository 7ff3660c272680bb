import { createHmac, hash } from 'node:crypto'
import { deriveKeys, isSameText, type KeySource } from '#platform/secrets/sealing.ts'
import type { Clock, EpochMs } from '#platform/time.ts'
import { createProofKeyReader } from './issuers/public-keys.ts'
import type { RateLimiter } from './limits/rate-limiter.ts'
import { isType, type ReadJwt, readJwt } from './tokens/jwt.ts'

/** What a proof has to be about. */
export interface ProvenRequest {
  readonly method: string
  /** Whether the URL is that of the request, its query and fragment aside. */
  isUrl(htu: string): boolean
  /** The access token beside it; undefined = there is none, as where one is asked for. */
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

/** `nonce`: it is right but for its nonce, which is missing or too old. */
export type ProofVerdict =
  | { readonly kind: 'valid'; readonly proof: ReadProof }
  | { readonly kind: 'nonce' }
  | { readonly kind: 'invalid'; readonly reason: string }

/** Proofs that the sender of a request has the private key of a token: DPoP (RFC 9449). */
export interface Proofs {
  /** Checks all but whether it was used before (RFC 9449 4.3). @param proofs the values of the field DPoP */
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

/** Proofs that have been used: each counts once, in all workers and instances. */
export interface ProofReplays {
  /**
   * Uses a proof. Synchronous where this process is the only one.
   * @param id of at most 64 characters
   * @param issuedAt when it was made
   * @param lifetimeMs how long it can be valid
   * @returns false where it may have been used before
   */
  use(id: string, issuedAt: EpochMs, lifetimeMs: number): boolean | Promise<boolean>
}

interface ProofReplaysOptions {
  /** As RateLimiter.take; undefined = no other process decides. */
  readonly take: RateLimiter['take'] | undefined
  /** How many are kept; default 100,000, in some 12 MiB. */
  readonly entriesMax?: number
  readonly clock?: Clock
}

const defaultEntriesMax = 100_000
const secondMs = 1_000

/**
 * Keeps used proofs by the second in which they were made. Where there are too many, those of the oldest second are
 * forgotten, and from then on all of that time are refused: under a flood proofs have to be fresher, but none counts
 * twice. Proofs from the future, which clocks that are ahead make, would be the last to be forgotten: they have a
 * quarter of the room at most, and beyond that are refused themselves. Other processes are asked by a rate of one use:
 * while the store is unreachable, or has lost what it counted, a proof counts once in each of them.
 */
export function createProofReplays({
  take,
  entriesMax = defaultEntriesMax,
  clock = Date.now,
}: ProofReplaysOptions): ProofReplays {
  const bySecond = new Map<number, Set<string>>()
  let size = 0
  /** Proofs of this second, and of those before it, are refused. */
  let forgotten = Number.NEGATIVE_INFINITY

  function useHere(id: string, second: number, keptSeconds: number): boolean {
    if (second <= forgotten) return false
    const used = bySecond.get(second) ?? begin(second, keptSeconds)
    if (used.has(id) || !hasRoomFor(second)) return false
    used.add(id)
    size++
    while (size > entriesMax) forget(Math.min(...bySecond.keys()))
    return true
  }

  function hasRoomFor(second: number): boolean {
    const now = Math.floor(clock() / secondMs)
    if (second <= now) return true
    let ahead = 0
    for (const [other, { size }] of bySecond) if (other > now) ahead += size
    return ahead < entriesMax / 4
  }

  /** Forgets proofs that are too old to be accepted by now. */
  function begin(second: number, keptSeconds: number): Set<string> {
    for (const known of bySecond.keys()) if (known < second - keptSeconds) forget(known)
    const used = new Set<string>()
    bySecond.set(second, used)
    return used
  }

  function forget(second: number): void {
    size -= bySecond.get(second)?.size ?? 0
    bySecond.delete(second)
    forgotten = Math.max(forgotten, second)
  }

  return {
    use: (id, issuedAt, lifetimeMs) => {
      const keptSeconds = Math.ceil(lifetimeMs / secondMs) + 1
      if (!useHere(id, Math.floor(issuedAt / secondMs), keptSeconds)) return false
      const taken = take?.('proof', id, { limit: 1, perMs: lifetimeMs })
      if (taken === undefined) return true
      return taken instanceof Promise ? taken.then(({ isAllowed }) => isAllowed) : taken.isAllowed
    },
  }
}
