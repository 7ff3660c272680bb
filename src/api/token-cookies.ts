import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { IssuedTokens } from '#identity/tokens/issued-tokens.ts'
import { tokenMaxAgeS } from '#identity/tokens/jwt.ts'
import { jarAttributesOf, type TokenCookie } from '#platform/http.ts'

export interface TokenCookiesOptions {
  /** Carries the refresh token. */
  readonly cookie: TokenCookie
  /** Carries the access token; undefined = it is not enabled. */
  readonly accessCookie: TokenCookie | undefined
  /** The public origin. */
  readonly publicOrigin: string
  /** `cors.origins`: pages that are trusted with credentials. */
  readonly origins: readonly string[]
}

/** The cookies with the tokens of a session. */
interface TokenCookies {
  /**
   * Sets them. Not the access cookie for a page of another site: it could sign a person in as somebody else, and read
   * what this person then does (login CSRF).
   */
  set(request: FastifyRequest, reply: FastifyReply, issued: IssuedTokens): void
  /** Clears them with any response: not all responses are written by Fastify. */
  clear(reply: FastifyReply): void
  /** The refresh token in its cookie. */
  readRefreshToken(request: FastifyRequest): string | undefined
  /** Whether a page of another site has sent it. */
  isCrossSite(request: FastifyRequest): boolean
}

export function createTokenCookies(app: FastifyInstance, options: TokenCookiesOptions): TokenCookies {
  const { cookie, accessCookie, publicOrigin } = options
  const trusted = new Set(options.origins)
  const all = [cookie, ...(accessCookie ? [accessCookie] : [])]
  const cleared = all.map((each) =>
    app.serializeCookie(each.name, '', { ...jarAttributesOf(each), maxAge: 0, expires: new Date(0) }),
  )

  /** By what the browser sends about the page behind the request; a client that sends nothing is not a browser. */
  function isCrossSite({ headers }: FastifyRequest): boolean {
    const site = headers['sec-fetch-site']
    if (site !== undefined) return site !== 'same-origin' && site !== 'same-site' && site !== 'none'
    return headers.origin !== undefined && headers.origin !== publicOrigin
  }

  function isTrusted(request: FastifyRequest): boolean {
    return !isCrossSite(request) || trusted.has(request.headers.origin ?? '')
  }

  return {
    isCrossSite,
    set: (request, reply, { cookieToken, refreshToken, refreshLifetimeMs }) => {
      reply.header('Cache-Control', 'no-store')
      const maxAge = Math.ceil(refreshLifetimeMs / 1_000)
      reply.setCookie(cookie.name, refreshToken, { ...jarAttributesOf(cookie), maxAge })
      if (!accessCookie || cookieToken === undefined || !isTrusted(request)) return
      reply.setCookie(accessCookie.name, cookieToken, {
        ...jarAttributesOf(accessCookie),
        maxAge: tokenMaxAgeS(cookieToken),
      })
    },
    clear: ({ raw }) => {
      raw.setHeader('Set-Cookie', cleared)
    },
    readRefreshToken: ({ cookies }) => cookies[cookie.name],
  }
}
