import type { IssuedTokens } from '#identity/tokens/issued-tokens.ts'
import { tokenMaxAgeS } from '#identity/tokens/jwt.ts'
import type { CookieAttributes } from '#platform/http.ts'

/** The attributes of the access cookie, which lives as long as its token. */
export function accessCookieAttributes(cookie: CookieAttributes, token: string) {
  return { ...cookieOptionsOf(cookie), maxAge: tokenMaxAgeS(token) }
}

/** The attributes of the refresh cookie, which lives as long as its token can be used. */
export function refreshCookieAttributes(
  cookie: CookieAttributes,
  { refreshLifetimeMs }: Pick<IssuedTokens, 'refreshLifetimeMs'>,
) {
  return { ...cookieOptionsOf(cookie), maxAge: Math.ceil(refreshLifetimeMs / 1_000) }
}

/** The attributes of a cookie in the form that Fastify and the portal's cookie jar take. */
export function cookieOptionsOf({ path, sameSite, isSecure }: CookieAttributes) {
  // The cast is sound: to ASCII, toLowerCase does what the type `Lowercase` says.
  const lower = sameSite.toLowerCase() as Lowercase<typeof sameSite>
  return { path, httpOnly: true, secure: isSecure, sameSite: lower } as const
}

/** What makes browsers drop a cookie, beside the attributes that it was set with. */
export const cleared = { maxAge: 0, expires: new Date(0) } as const
