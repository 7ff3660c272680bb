import { errors, type JWTPayload, jwtVerify } from 'jose'
import { AssertionError } from './verify/assertion-error.ts'
import { createKeySet, type KeySetOptions } from './verify/key-set.ts'
import type { RevocableClaims } from './verify/revocation-events.ts'
import { createRevocations, type RevocationOptions } from './verify/revocations.ts'

// Entry point `@gatehouse-proxy/gateway/verify`.
export { AssertionError, type AssertionErrorCode } from './verify/assertion-error.ts'
export type { RevocableClaims } from './verify/revocation-events.ts'
export type { RevocationOptions } from './verify/revocations.ts'

/** What a backend knows about its gateway. */
export interface VerifierOptions extends KeySetOptions {
  /** `tokens.issuer` of the gateway, by default its `publicUrl`. */
  readonly issuer: string
  /** The name of this backend in the gateway's config: assertions for others are refused. */
  readonly audience: string
  /** `identity.assertion.header`; default: `X-Gatehouse-Assertion`. */
  readonly header?: string
  /** Accepted algorithms; default: ES256, RS256 and EdDSA. Symmetric ones and `none` never are. */
  readonly algorithms?: readonly (typeof algorithmsKnown)[number][]
  /** How far clocks may differ, in seconds, 0 or more; default: 5. */
  readonly clockToleranceS?: number
  /** Follows what the gateway revokes; absent = an assertion counts until it expires. */
  readonly revocations?: RevocationOptions
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

/** What the gateway signs with and publishes the keys of. */
const algorithmsKnown = ['ES256', 'RS256', 'EdDSA'] as const
/** `typ` of assertions, which an access token does not have. */
const assertionType = 'gatehouse-assertion+jwt'
const requiredClaims = ['iss', 'aud', 'sub', 'role', 'scheme', 'iat', 'exp']
/** An assertion has about 500 bytes; a header of a gateway at most 16 KiB. */
const lengthMax = 8_192

/**
 * Verifies assertions of one gateway for one backend (RFC 7519, RFC 8725). Create it once, as it keeps the keys.
 * @throws TypeError for options with which too much would be accepted, or nothing could be verified
 */
export function createVerifier(options: VerifierOptions): Verifier {
  const { issuer, audience, header = 'X-Gatehouse-Assertion', clock = Date.now } = options
  const { algorithms = algorithmsKnown, clockToleranceS = 5 } = options
  // In JavaScript either may be undefined, for example from an unset variable: then it would not be checked at all.
  if (!issuer || !audience) throw new TypeError('issuer and audience must be set')
  if (!(Number.isFinite(clockToleranceS) && clockToleranceS >= 0))
    throw new TypeError('clockToleranceS must be a number, 0 or more')
  // A text is not a list, and of another algorithm there is no key: every assertion would be refused.
  if (!isListOf(algorithmsKnown, algorithms))
    throw new TypeError(`algorithms must be a list of some of ${algorithmsKnown.join(', ')}`)
  const keySet = createKeySet(options)
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

function isListOf(known: readonly unknown[], given: unknown): boolean {
  return Array.isArray(given) && given.length > 0 && given.every((value) => known.includes(value))
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

/** The part of a node:http, Express or Fastify request that is read. */
interface NodeRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

/** What the adapters need of a verifier. */
type RequestVerifier = Pick<Verifier, 'header' | 'verify'>

/** The identity of a node:http request. @throws AssertionError */
export function verifyRequest(verifier: RequestVerifier, { headers }: NodeRequest): Promise<Identity> {
  const value = headers[verifier.header.toLowerCase()]
  // Node joins repeated fields; two assertions never count as one.
  return verifier.verify(Array.isArray(value) ? value.join(', ') : value)
}

/** A request with its identity. */
export interface Identified {
  identity?: Identity
}

declare global {
  namespace Express {
    /** For apps with `@types/express`; without these it is merely a name. */
    interface Request extends Identified {}
  }
}

/** Middleware for Express: sets `request.identity`, or passes an AssertionError on to the app's error handler. */
export function expressIdentity(verifier: RequestVerifier) {
  return function identify(
    request: NodeRequest & Identified,
    _response: unknown,
    next: (error?: unknown) => void,
  ): void {
    verifyRequest(verifier, request).then((identity) => {
      request.identity = identity
      next()
    }, next)
  }
}

/**
 * A hook for Fastify's `onRequest`: sets `request.identity`, or throws an AssertionError, which Fastify answers with
 * 401 or 503.
 */
export function fastifyIdentity(verifier: RequestVerifier) {
  return async function identify(request: NodeRequest & Identified): Promise<void> {
    request.identity = await verifyRequest(verifier, request)
  }
}

/**
 * A handler of Requests, as in Hono, Deno, Bun and workers, that gets the identity; requests without one are answered
 * 401 or 503.
 */
export function fetchIdentity<Rest extends unknown[]>(
  verifier: RequestVerifier,
  handler: (request: Request, identity: Identity, ...rest: Rest) => Response | Promise<Response>,
) {
  return async function handleIdentified(request: Request, ...rest: Rest): Promise<Response> {
    let identity: Identity
    try {
      identity = await verifier.verify(request.headers.get(verifier.header) ?? undefined)
    } catch (error) {
      if (!(error instanceof AssertionError)) throw error
      return Response.json({ code: error.code, detail: error.message }, { status: error.statusCode })
    }
    return handler(request, identity, ...rest)
  }
}
