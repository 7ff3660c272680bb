import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { countFailure } from '../auth/limits.ts'
import type { RateLimiter } from '../auth/rate-limiter.ts'
import type { ErrorCode } from '../errors/codes.ts'
import { GatehouseError } from '../errors/gatehouse-error.ts'
import { arrivalOf, visitorOf } from '../http/arrival.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { PublicPath } from '../routes/own-paths.ts'
import type { Rate } from '../store/rates.ts'
import type { IssuedTokens, Sessions } from '../tokens/sessions.ts'
import { readMembers } from './json-body.ts'
import type { OwnEndpoint } from './own-route.ts'
import { onResponseSent } from './reply.ts'

export interface RefreshCookie {
  readonly name: string
  readonly path: string
  readonly sameSite: 'Strict' | 'Lax' | 'None'
  readonly isSecure: boolean
}

export interface TokenEndpointsOptions {
  readonly sessions: Sessions
  readonly limiter: RateLimiter
  /** How many invalid key pairs one client address may send. */
  readonly failures: Rate
  readonly metrics: Metrics
  readonly cookie: RefreshCookie
  /** The public origin. */
  readonly publicOrigin: string
}

/** After these errors the session of the token has ended, and its cookie is useless. */
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
  const { sessions, limiter, failures, metrics, cookie, publicOrigin } = options
  const attributes = {
    path: cookie.path,
    httpOnly: true,
    secure: cookie.isSecure,
    sameSite: cookie.sameSite.toLowerCase() as 'strict' | 'lax' | 'none',
  }

  function setCookie(reply: FastifyReply, { refreshToken, refreshLifetimeMs }: IssuedTokens): void {
    reply.header('Cache-Control', 'no-store')
    reply.setCookie(cookie.name, refreshToken, {
      ...attributes,
      maxAge: Math.ceil(refreshLifetimeMs / 1_000),
    })
  }

  const clearedCookie = app.serializeCookie(cookie.name, '', {
    ...attributes,
    maxAge: 0,
    expires: new Date(0),
  })

  /** Clears it with any response: not all responses are written by Fastify. */
  function clearCookie({ raw }: FastifyReply): void {
    raw.setHeader('Set-Cookie', clearedCookie)
  }

  async function issue(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const { SecretKey, APIKey } = readMembers(request, { required: ['SecretKey', 'APIKey'] })
    const issued = await sessions
      .start(SecretKey, APIKey, visitorOf(request.raw))
      .catch((error: unknown) => countFailedKeyPair(request, error))
    metrics.tokensIssued.inc({ grant: 'keys' })
    setCookie(reply, issued)
    const { account, accessToken, refreshToken } = issued
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

  async function countFailedKeyPair(request: FastifyRequest, error: unknown): Promise<never> {
    if (error instanceof GatehouseError && error.code === 'credentials-invalid') {
      const { address } = arrivalOf(request.raw).client
      const excess = await countFailure(limiter, failures, { address, isMalformed: false })
      if (excess) throw excess
    }
    throw error
  }

  async function refresh(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const { token, isFromCookie } = readRefreshToken(request)
    try {
      const issued = await sessions.refresh(token, visitorOf(request.raw))
      metrics.tokensIssued.inc({ grant: 'refresh' })
      setCookie(reply, issued)
      onResponseSent(reply.raw, issued.acknowledge)
      return { jwtToken: issued.accessToken, refreshToken: issued.refreshToken }
    } catch (error) {
      if (isFromCookie && error instanceof GatehouseError && sessionEndedCodes.has(error.code))
        clearCookie(reply)
      throw error
    }
  }

  /**
   * A client that signs out loses the cookie, even if the session cannot be ended now or the body is wrong. But a page
   * of another site cannot sign anyone out.
   */
  function clearCookieUnlessCrossSite(request: FastifyRequest, reply: FastifyReply): void {
    if (!isCrossSite(request, publicOrigin)) clearCookie(reply)
  }

  async function revoke(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const { token } = readRefreshToken(request)
    clearCookie(reply)
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
    const fromCookie = request.cookies[cookie.name]
    if (!fromCookie) {
      const errors = [{ field: 'token', message: 'is missing, and so is the cookie' }]
      throw new GatehouseError('request-invalid', { errors })
    }
    if (isCrossSite(request, publicOrigin)) throw new GatehouseError('cross-site-refresh')
    return { token: fromCookie, isFromCookie: true }
  }

  return {
    '/api/v1/accounts/access-token': { handler: issue },
    '/api/v1/accounts/refresh-token': { handler: refresh },
    '/api/v1/accounts/revoke-token': { handler: revoke, onAccepted: clearCookieUnlessCrossSite },
  }
}

/** By what the browser sends about the page behind the request; a client that sends nothing is not a browser. */
function isCrossSite({ headers }: FastifyRequest, publicOrigin: string): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site !== 'same-origin' && site !== 'same-site' && site !== 'none'
  return headers.origin !== undefined && headers.origin !== publicOrigin
}
