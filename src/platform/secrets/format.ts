/**
 * The prefix of each kind of credential that the gateway issues, keys aside; a `_` follows. Whatever starts with one of
 * them is taken for a secret and hidden (hide-secrets.ts).
 */
export const secretPrefixes = {
  refreshToken: 'grt',
  setupLink: 'gsl',
  resetLink: 'gpr',
  emailLink: 'gev',
  portalSession: 'gps',
} as const

/** What stands between the prefix of a key and its handle: `gate_sk_…`. */
export const keyMarks = { secretKey: 'sk', apiKey: 'ak' } as const

/** The whole prefix of keys from before it could be configured: `gsk_…`. */
export const oldKeyPrefixes = { secretKey: 'gsk', apiKey: 'gak' } as const

export const defaultKeyPrefix = 'gate'
export const keyPrefixLengthMax = 16

/** Lengths are in letters and digits. */
export const accountIdLength = 16
export const sessionIdLength = 20
/** Enough for 256 bits. */
export const secretLength = 43
export const keyChecksumLength = 6

/** For regular expressions, without groups. */
export const keyPrefixPattern = `[a-z][a-z0-9]{0,${keyPrefixLengthMax - 1}}`
export const accountIdPattern = `[0-9A-Za-z]{${accountIdLength}}`
export const sessionIdPattern = `[0-9A-Za-z]{${sessionIdLength}}`
export const secretPattern = `[0-9A-Za-z]{${secretLength}}`
