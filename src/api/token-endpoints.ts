import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { EndHeldKey } from '#accounts/held-keys.ts'
import { arrivalOf, visitorOf } from '#gateway/arrival/endpoint-arrival.ts'
import { recordOnSent } from '#gateway/arrival/outcome.ts'
import { ambiguousCookie } from '#gateway/browser/browser-fields.ts'
import type { PublicPath } from '#gateway/routes/own-operations.ts'
import { countFailureOrThrow } from '#identity/limits/failures.ts'
import type { RateLimiter } from '#identity/limits/rate-limiter.ts'
import type { Sessions } from '#identity/tokens/sessions.ts'
import type { Metrics } from '#ops/metrics/metrics.ts'
import type { ErrorCode } from '#platform/errors/codes.ts'
import { GatehouseError, invalidField } from '#platform/errors/gatehouse-error.ts'
import { isRecord } from '#platform/json.ts'
import type { Rate } from '#store/rates.ts'
import { readMembers } from './bodies.ts'
import type { OwnEndpoint } from './own-endpoint.ts'
import { createTokenCookies, type TokenCookiesOptions } from './token-endpoint-cookies.ts'

export interface TokenEndpointsOptions extends TokenCookiesOptions, FailedKeyPairOptions {
  readonly sessions: Sessions
  readonly metrics: Metrics
}

/** After these errors the session of the token has ended, or needs a second factor first: its cookie is useless. */
const sessionEndedCodes = new Set<ErrorCode>([
  'refresh-token-expired',
  'refresh-token-reused',
  'session-revoked',
])

type TokenPath = Extract<PublicPath, `/api/v1/accounts/${string}`>

/** Issuing, refreshing and revoking tokens. */
export function tokenEndpoints(
  app: FastifyInstance,
  options: TokenEndpointsOptions,
): Readonly<Record<TokenPath, OwnEndpoint>> {
  const { sessions, metrics } = options
  const countFailedKeyPair = createFailedKeyPairCount(options)
  const cookies = createTokenCookies(app, options)

  async function issue(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const { SecretKey, APIKey } = readMembers(request, { required: ['SecretKey', 'APIKey'] })
    const issued = await sessions
      .start(SecretKey, APIKey, visitorOf(request.raw))
      .catch((error: unknown) => countFailedKeyPair(request, error))
    metrics.tokensIssued.inc({ grant: 'keys' })
    cookies.set(request, reply, issued)
    const { account, accessToken, refreshToken } = issued
    // These capital letters are part of the interface; the response to a refresh has others (`jwtToken`).
    return {
      Id: account.id,
      FirstName: account.firstName,
      LastName: account.lastName,
      Email: account.email,
      Role: account.role,
      IsVerified: account.isVerified,
      JwtToken: accessToken,
      RefreshToken: refreshToken,
    }
  }

  async function refresh(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const { token, isFromCookie } = readRefreshToken(request)
    try {
      const issued = await sessions.refresh(token, visitorOf(request.raw))
      metrics.tokensIssued.inc({ grant: 'refresh' })
      cookies.set(request, reply, issued)
      recordOnSent(arrivalOf(request.raw).outcome, issued.acknowledge)
      return { jwtToken: issued.accessToken, refreshToken: issued.refreshToken }
    } catch (error) {
      if (isFromCookie && error instanceof GatehouseError && sessionEndedCodes.has(error.code))
        cookies.clear(reply)
      throw error
    }
  }

  /**
   * A client that signs out loses the cookie, even if the session cannot be ended now or the body is wrong. But a page
   * of another site cannot sign anyone out, unless it has a token to revoke.
   */
  function clearCookieUnlessCrossSite(request: FastifyRequest, reply: FastifyReply): void {
    if (!cookies.isCrossSite(request)) cookies.clear(reply)
  }

  async function revoke(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const { token } = readRefreshToken(request)
    cookies.clear(reply)
    await sessions.revoke(token)
    reply.header('Cache-Control', 'no-store')
    return {}
  }

  /** The token in the body, else in the cookie, which is never accepted from another site. */
  function readRefreshToken(request: FastifyRequest): {
    readonly token: string
    readonly isFromCookie: boolean
  } {
    const { token } = readMembers(request, { required: [], optional: ['token'] })
    if (token !== undefined) return { token, isFromCookie: false }
    const fromCookie = cookies.readRefreshToken(request)
    if (fromCookie === undefined) throw invalidField('token', 'is missing, and so is the cookie')
    if (cookies.isCrossSite(request)) throw new GatehouseError('cross-site-refresh')
    // Neither value is cleared: if only one were, the other would count from then on.
    if (fromCookie === ambiguousCookie)
      throw new GatehouseError('credentials-ambiguous', {
        detail: 'The cookie of the refresh token was sent more than once, with different values.',
      })
    return { token: fromCookie, isFromCookie: true }
  }

  return {
    '/api/v1/accounts/access-token': { handler: issue },
    '/api/v1/accounts/refresh-token': { handler: refresh },
    '/api/v1/accounts/revoke-token': { handler: revoke, onAccepted: clearCookieUnlessCrossSite },
  }
}

export interface FailedKeyPairOptions {
  readonly limiter: RateLimiter
  /** How many invalid key pairs, or keys to revoke, one client network may send. */
  readonly failures: Rate
}

/** @returns a function that counts a wrong pair, and throws `too-many-failures`, or else the error */
export function createFailedKeyPairCount({ limiter, failures }: FailedKeyPairOptions) {
  return async function countFailedKeyPair({ raw }: FastifyRequest, error: unknown): Promise<never> {
    if (error instanceof GatehouseError && error.code === 'credentials-invalid')
      await countFailureOrThrow(limiter, failures, arrivalOf(raw).client.address)
    throw error
  }
}

export interface HeldKeysEndpointOptions extends FailedKeyPairOptions {
  readonly endHeldKey: EndHeldKey
}

/** Ends a key for whoever holds it. The answer is the same whether or not there was such a key. */
export function revokeKeyEndpoint({ endHeldKey, limiter, failures }: HeldKeysEndpointOptions): OwnEndpoint {
  return {
    handler: async (request, reply) => {
      const key = readKey(request)
      const visitor = visitorOf(request.raw)
      // Every call counts: the answer does not say whether there was such a key.
      await countFailureOrThrow(limiter, failures, visitor.address)
      await endHeldKey(key, visitor)
      reply.header('Cache-Control', 'no-store')
      return {}
    },
  }
}

/** An empty text counts as a key too: it gets the same response. */
function readKey(request: FastifyRequest): string {
  const { body } = request
  return isRecord(body) && body.key === '' ? '' : readMembers(request, { required: ['key'] }).key
}
