import { errors, type JWTPayload, jwtVerify } from 'jose'
import { AssertionError } from './assertion-error.ts'
import { createKeySet } from './key-set.ts'
import { createRevocations, type RevocableClaims, type RevocationOptions } from './revocations.ts'

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
  /** Follows what the gateway revokes; absent = an assertion counts until it expires. */
  readonly revocations?: RevocationOptions
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
  /**
   * For access tokens that the app has verified itself. Needs `revocations`.
   * @param claims those of the token
   * @throws AssertionError `revoked`, or `revocations-unknown` unless `onUnknown` accepts that
   */
  assertNotRevoked(claims: RevocableClaims): Promise<void>
  /** Ends the connection of `revocations`. */
  close(): void
}

/** `typ` of assertions, which an access token does not have. */
const assertionType = 'gatehouse-assertion+jwt'
const requiredClaims = ['iss', 'aud', 'sub', 'role', 'scheme', 'iat', 'exp']
/** An assertion has about 500 bytes; a header of a gateway at most 16 KiB. */
const lengthMax = 8_192

/**
 * Verifies assertions of one gateway for one backend (RFC 7519, RFC 8725). Create it once, as it keeps the keys.
 * @throws TypeError for options that would accept too much, or that nothing can be verified with
 */
export function createVerifier(options: VerifierOptions): Verifier {
  const { issuer, audience, header = 'X-Gatehouse-Assertion', clock = Date.now } = options
  const { algorithms = ['ES256', 'RS256', 'EdDSA'], clockToleranceS = 5 } = options
  // In JavaScript either may be undefined, such as an unset variable: it would not be checked at all.
  if (!issuer || !audience) throw new TypeError('issuer and audience must be set')
  if (!(clockToleranceS >= 0)) throw new TypeError('clockToleranceS must be 0 or more')
  const keySet = createKeySet({ ...options, clock })
  const revocations =
    options.revocations &&
    createRevocations({ ...options.revocations, issuer, algorithms, keySet, clockToleranceS, clock })

  async function verify(assertion: string | undefined): Promise<Identity> {
    if (assertion === undefined || assertion === '') throw new AssertionError('assertion-missing')
    if (assertion.length > lengthMax) throw new AssertionError('assertion-invalid')
    const now = clock()
    try {
      const { payload } = await jwtVerify(assertion, keySet.find, {
        issuer,
        audience,
        algorithms: [...algorithms],
        typ: assertionType,
        clockTolerance: clockToleranceS,
        requiredClaims,
        currentDate: new Date(now),
      })
      const identity = toIdentity(payload, now / 1_000 + clockToleranceS)
      await revocations?.assertNotRevoked(payload)
      return identity
    } catch (cause) {
      throw toAssertionError(cause)
    }
  }

  async function assertNotRevoked(claims: RevocableClaims): Promise<void> {
    if (!revocations) throw new TypeError('createVerifier has no `revocations`')
    await revocations.assertNotRevoked(claims)
  }

  return { header, verify, assertNotRevoked, close: () => revocations?.close() }
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
