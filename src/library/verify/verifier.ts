import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose'

/** What a backend knows about its gateway. */
export interface VerifierOptions {
  /** Where the gateway publishes its keys: `https://…/.well-known/jwks.json`. */
  readonly jwksUrl: string | URL
  /** `tokens.issuer` of the gateway, by default its `publicUrl`. */
  readonly issuer: string
  /** The name of this backend in the gateway's config: assertions for others are refused. */
  readonly audience: string
  /** `identity.assertion.header`; default: `X-Gatehouse-Assertion`. */
  readonly header?: string
  /** Accepted algorithms; default: ES256, RS256 and EdDSA. Symmetric ones and `none` never are. */
  readonly algorithms?: readonly ('ES256' | 'RS256' | 'EdDSA')[]
  /** How far clocks may differ, in seconds, 0 or more; default: 5. */
  readonly clockToleranceS?: number
  /**
   * After how long the keys are read again, in milliseconds; default: 10 minutes. If they cannot be read, the known
   * ones are kept.
   */
  readonly keysMaxAgeMs?: number
  /**
   * For how long after reading the keys an unknown one does not cause them to be read again, in milliseconds; default:
   * 30 s.
   */
  readonly cooldownMs?: number
  /** How long reading the keys may take, in milliseconds; default: 5 s. */
  readonly timeoutMs?: number
  /** Milliseconds since 1970; default: the system's clock. */
  readonly clock?: () => number
}

/** The caller that an assertion identifies. */
export interface Identity {
  readonly accountId: string
  readonly role: string
  readonly scheme: 'secretKey' | 'bearer'
  /** Only with a bearer token. */
  readonly sessionId: string | undefined
  /** What the key or token is limited to; empty = it is not limited. */
  readonly scopes: readonly string[]
}

export interface Verifier {
  /** The name of the header. */
  readonly header: string
  /**
   * @param assertion the value of the header; undefined = there is none
   * @throws AssertionError
   */
  verify(assertion: string | undefined): Promise<Identity>
}

/** `typ` of assertions, which an access token does not have. */
const assertionType = 'gatehouse-assertion+jwt'
const requiredClaims = ['iss', 'aud', 'sub', 'role', 'scheme', 'iat', 'exp']
/** An assertion has about 500 bytes; a header of a gateway at most 16 KiB. */
const lengthMax = 8_192

/** Verifies assertions of one gateway for one backend (RFC 7519, RFC 8725). Create it once, as it keeps the keys. */
export function createVerifier(options: VerifierOptions): Verifier {
  const { issuer, audience, header = 'X-Gatehouse-Assertion', clock = Date.now } = options
  const { algorithms = ['ES256', 'RS256', 'EdDSA'], clockToleranceS = 5 } = options
  if (issuer === '' || audience === '') throw new TypeError('issuer and audience must not be empty')
  if (!(clockToleranceS >= 0)) throw new TypeError('clockToleranceS must be 0 or more')
  const keySet = createKeySet({ ...options, clock })

  async function verify(assertion: string | undefined): Promise<Identity> {
    if (assertion === undefined || assertion === '') throw new AssertionError('assertion-missing')
    if (assertion.length > lengthMax) throw new AssertionError('assertion-invalid')
    const now = clock()
    try {
      const { payload } = await jwtVerify(assertion, keySet, {
        issuer,
        audience,
        algorithms: [...algorithms],
        typ: assertionType,
        clockTolerance: clockToleranceS,
        requiredClaims,
        currentDate: new Date(now),
      })
      return toIdentity(payload, now / 1_000 + clockToleranceS)
    } catch (cause) {
      throw toAssertionError(cause)
    }
  }

  return { header, verify }
}

/** @param latestS an assertion issued after this time is from the future */
function toIdentity({ sub, aud, iat = 0, ...claims }: JWTPayload, latestS: number): Identity {
  const { role, scheme, sid, scope = '' } = claims
  const isValid =
    typeof sub === 'string' &&
    typeof aud === 'string' &&
    typeof role === 'string' &&
    (scheme === 'secretKey' || scheme === 'bearer') &&
    (sid === undefined || typeof sid === 'string') &&
    typeof scope === 'string' &&
    iat <= latestS
  if (!isValid) throw new AssertionError('assertion-invalid')
  return {
    accountId: sub,
    role,
    scheme,
    sessionId: sid,
    scopes: scope === '' ? [] : scope.split(' '),
  }
}

function toAssertionError(cause: unknown): AssertionError {
  if (cause instanceof AssertionError) return cause
  const isExpired = cause instanceof errors.JWTExpired
  return new AssertionError(isExpired ? 'assertion-expired' : 'assertion-invalid', cause)
}

interface KeySetOptions {
  readonly jwksUrl: string | URL
  readonly keysMaxAgeMs?: number
  readonly cooldownMs?: number
  readonly timeoutMs?: number
  readonly clock: () => number
}

/**
 * The keys of a gateway, read when they are first needed. An unknown key causes them to be read again, so that a
 * rotation is followed, but not within the cooldown, so that invented key names cost nothing. They are read again in
 * the background once they are old; while the gateway cannot be reached, the known keys are kept.
 */
function createKeySet(options: KeySetOptions): JWTVerifyGetKey {
  const { jwksUrl, keysMaxAgeMs = 600_000, cooldownMs = 30_000, timeoutMs = 5_000, clock } = options
  // Never expires by itself, so that an outage of the gateway is not one of the backend.
  const remote = createRemoteJWKSet(new URL(jwksUrl), {
    cacheMaxAge: Number.POSITIVE_INFINITY,
    cooldownDuration: cooldownMs,
    timeoutDuration: timeoutMs,
  })
  let readAt = Number.NEGATIVE_INFINITY
  let failedAt = Number.NEGATIVE_INFINITY

  /** @throws if they cannot be read */
  async function read(): Promise<void> {
    try {
      await remote.reload()
      readAt = clock()
    } catch (error) {
      failedAt = clock()
      throw error
    }
  }

  return async function findKey(header, token) {
    const now = clock()
    const isOld = now - readAt > keysMaxAgeMs
    const mayTry = now - failedAt > Math.min(cooldownMs, 1_000)
    if (remote.jwks() === undefined) {
      if (!mayTry) throw new AssertionError('keys-unavailable')
      await read().catch((cause: unknown) => {
        throw new AssertionError('keys-unavailable', cause)
      })
    } else if (isOld && mayTry) read().catch(() => {})
    try {
      return await remote(header, token)
    } catch (cause) {
      throw isAboutKey(cause) ? cause : new AssertionError('keys-unavailable', cause)
    }
  }
}

/** Whether an error is about the key that the assertion names, rather than about reading the keys. */
function isAboutKey(error: unknown): boolean {
  if (!(error instanceof errors.JOSEError) || error instanceof errors.JWKSTimeout) return false
  return error.code !== errors.JOSEError.code
}

/** Why there is no identity; `keys-unavailable` = unknown, as the gateway's keys have never been read. */
export type AssertionErrorCode =
  | 'assertion-missing'
  | 'assertion-invalid'
  | 'assertion-expired'
  | 'keys-unavailable'

const messages: Readonly<Record<AssertionErrorCode, string>> = {
  'assertion-missing': 'The request has no assertion: it did not come through the gateway.',
  'assertion-invalid': 'The assertion was not made by this gateway for this backend.',
  'assertion-expired': 'The assertion has expired.',
  'keys-unavailable': "The gateway's keys cannot be read.",
}

/** A request without a valid assertion. Its message may be shown to anybody, its cause is for the log. */
export class AssertionError extends Error {
  override readonly name = 'AssertionError'
  readonly code: AssertionErrorCode
  /** 401, or 503 if the keys are unavailable. Express and Fastify answer with it. */
  readonly statusCode: 401 | 503

  constructor(code: AssertionErrorCode, cause?: unknown) {
    super(messages[code], { cause })
    this.code = code
    this.statusCode = code === 'keys-unavailable' ? 503 : 401
  }
}
