import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { arrivalOf } from '#gateway/arrival/endpoint-arrival.ts'
import { onlyCookieIn } from '#gateway/browser/browser-fields.ts'
import {
  accessCookieAttributes,
  cleared,
  cookieOptionsOf,
  refreshCookieAttributes,
} from '#gateway/browser/token-cookies.ts'
import type { IssuedTokens } from '#identity/tokens/issued-tokens.ts'
import type { TokenCookie } from '#platform/http.ts'

export interface TokenCookiesOptions {
  /** Carries the refresh token. */
  readonly cookie: TokenCookie
  /** Carries the access token; undefined = it is not enabled. */
  readonly accessCookie: TokenCookie | undefined
  readonly publicOrigin: string
  /** `cors.origins`: pages that are trusted with credentials. */
  readonly origins: readonly string[]
}

/** The cookies with the tokens of a session. */
interface TokenCookies {
  /**
   * Sets them, but not the access cookie for a page of another site: the author of that page could sign a visitor in to
   * an account of their own, and read what the visitor then does (login CSRF).
   */
  set(request: FastifyRequest, reply: FastifyReply, issued: IssuedTokens): void
  /** Clears them with any response: not all responses are written by Fastify. */
  clear(reply: FastifyReply): void
  readRefreshToken(request: FastifyRequest): ReturnType<typeof onlyCookieIn>
  /** Whether a page of another site has sent the request. */
  isCrossSite(request: FastifyRequest): boolean
}

export function createTokenCookies(app: FastifyInstance, options: TokenCookiesOptions): TokenCookies {
  const { cookie, accessCookie, publicOrigin } = options
  const trusted = new Set(options.origins)
  const all = [cookie, ...(accessCookie ? [accessCookie] : [])]
  const clearing = all.map((each) =>
    app.serializeCookie(each.name, '', { ...cookieOptionsOf(each), ...cleared }),
  )

  /** Browsers say which page a request comes from; a client that says nothing is not a browser. */
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
    set: (request, reply, issued) => {
      const { cookieToken, refreshToken } = issued
      reply.header('Cache-Control', 'no-store')
      reply.setCookie(cookie.name, refreshToken, refreshCookieAttributes(cookie, issued))
      if (!accessCookie || cookieToken === undefined || !isTrusted(request)) return
      reply.setCookie(accessCookie.name, cookieToken, accessCookieAttributes(accessCookie, cookieToken))
    },
    clear: ({ raw }) => {
      raw.setHeader('Set-Cookie', clearing)
    },
    readRefreshToken: ({ raw }) => onlyCookieIn(arrivalOf(raw).head.rawHeaders, cookie.name),
  }
}
