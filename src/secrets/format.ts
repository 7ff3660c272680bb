/**
 * The prefix of each kind of credential that the gateway issues; a `_` follows. Whatever starts with one of them is
 * taken for a secret and hidden (hide-secrets.ts).
 */
export const secretPrefixes = {
  secretKey: 'gsk',
  apiKey: 'gak',
  refreshToken: 'grt',
  setupLink: 'gsl',
  emailLink: 'gev',
  portalSession: 'gps',
} as const

/** Lengths are in letters and digits. */
export const accountIdLength = 16
export const sessionIdLength = 20
/** Enough for 256 bits. */
export const secretLength = 43

/** For regular expressions, without groups. */
export const accountIdPattern = `[0-9A-Za-z]{${accountIdLength}}`
export const sessionIdPattern = `[0-9A-Za-z]{${sessionIdLength}}`
export const secretPattern = `[0-9A-Za-z]{${secretLength}}`
