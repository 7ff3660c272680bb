interface CookieAttributes {
  readonly path: string
  readonly sameSite: 'Strict' | 'Lax' | 'None'
  readonly isSecure: boolean
}

/** The attributes of a cookie that no script reads, to be put after its value: `; Path=/; HttpOnly; SameSite=Lax`. */
export function cookieAttributes({ path, sameSite, isSecure }: CookieAttributes): string {
  return `; Path=${path}; HttpOnly${isSecure ? '; Secure' : ''}; SameSite=${sameSite}`
}
