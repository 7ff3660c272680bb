export interface CookieAttributes {
  readonly path: string
  readonly sameSite: 'Strict' | 'Lax' | 'None'
  readonly isSecure: boolean
}

/** A cookie that carries a token. */
export interface TokenCookie extends CookieAttributes {
  readonly name: string
}

/** The attributes of a cookie that no script reads, to be put after its value: `; Path=/; HttpOnly; SameSite=Lax`. */
export function cookieAttributes({ path, sameSite, isSecure }: CookieAttributes): string {
  return `; Path=${path}; HttpOnly${isSecure ? '; Secure' : ''}; SameSite=${sameSite}`
}

/** The same as Fastify takes them, and the portal's cookie jar. */
export function jarAttributesOf({ path, sameSite, isSecure }: CookieAttributes) {
  const lower = sameSite.toLowerCase() as Lowercase<typeof sameSite>
  return { path, httpOnly: true, secure: isSecure, sameSite: lower } as const
}
