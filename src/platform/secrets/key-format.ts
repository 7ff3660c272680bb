import { randomBytes } from 'node:crypto'
import { keysOf } from '../json.ts'

// The forms of keys, which keys.ts makes and reads, and what tells the other credentials apart: their prefixes, and
// what makes a text a JWT or a bearer token.

/**
 * The prefix of each kind of credential that the gateway issues, except keys, followed by `_`. Anything that starts
 * with one of them is treated as a secret and hidden (hide-secrets.ts).
 */
export const secretPrefixes = {
  refreshToken: 'grt',
  setupLink: 'gsl',
  resetLink: 'gpr',
  emailLink: 'gev',
  portalSession: 'gps',
} as const

/** The mark between the prefix of a key and its handle: `gate_sk_…`. */
export const keyMarks = { secretKey: 'sk', apiKey: 'ak' } as const

/** The prefixes of keys before they could be configured: `gsk_…`. */
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

/** The kind of credential that a text looks like. The form does not say whether it is valid or complete. */
export type SecretForm = 'secretKey' | 'apiKey' | 'refreshToken' | 'jwt'

const secretKeyStart = keyStart('secretKey')
const apiKeyStart = keyStart('apiKey')
const refreshTokenStart = `${secretPrefixes.refreshToken}_`
/** The start of every JWT, and of no key: `{"` in base64url. */
const jwtStart = 'eyJ'
/** Header, payload and signature. */
const jwtParts = 3

/** What a text looks like; undefined = nothing that the gateway issues. */
export function formOf(text: string): SecretForm | undefined {
  if (text.startsWith(jwtStart)) return 'jwt'
  if (secretKeyStart.test(text)) return 'secretKey'
  if (apiKeyStart.test(text)) return 'apiKey'
  return text.startsWith(refreshTokenStart) ? 'refreshToken' : undefined
}

/** Whether a text looks like a key of either kind: in `Authorization: Bearer` this distinguishes a key from a JWT. */
export function looksLikeKey(text: string): boolean {
  return !text.startsWith(jwtStart) && (secretKeyStart.test(text) || apiKeyStart.test(text))
}

/**
 * Whether a text is a JWT, valid or not. Nearly all have the usual start; a few have white space at the start of the
 * header's JSON. Other keys of three parts are not JWTs.
 */
function looksLikeJwt(text: string): boolean {
  if (text.startsWith(jwtStart)) return true
  const [header = '', ...others] = text.split('.', jwtParts + 1)
  if (others.length !== jwtParts - 1) return false
  return Buffer.from(header, 'base64url').toString('latin1').trimStart().startsWith('{')
}

function keyStart(kind: keyof typeof keyMarks): RegExp {
  return new RegExp(`^(?:${oldKeyPrefixes[kind]}|${keyPrefixPattern}_${keyMarks[kind]})_`)
}

/** The length of an imported key: others are not looked up. */
const foreignKeyLength = { min: 8, max: 512 } as const

/** Whether a text can be a key that was made elsewhere: one in our own form can only be ours. */
export function isForeignKey(text: string): boolean {
  const { length } = text
  return length >= foreignKeyLength.min && length <= foreignKeyLength.max && !looksLikeKey(text)
}

/**
 * Whether a bearer token can be a key that was made elsewhere: neither a JWT nor a refresh token, which are for other
 * uses.
 */
export function isForeignBearerKey(token: string): boolean {
  return !looksLikeJwt(token) && isForeignKey(token) && formOf(token) === undefined
}

/** The longest token that an issuer is asked about, and what it may consist of (RFC 6750 2.1). */
const bearerTokenMax = 8_192
const bearerCharacters = /^[0-9A-Za-z._~+/-]+={0,64}$/

/** Whether a text has the form of a bearer token, and a length that an issuer is asked about. */
export function isBearerToken(text: string): boolean {
  return text.length <= bearerTokenMax && bearerCharacters.test(text)
}

const encryptedJwtParts = 5

/**
 * Whether a bearer token can be one that only its issuer can read: neither a signed JWT nor any credential of ours,
 * which nobody else is told. An encrypted JWT can be one (RFC 7516).
 */
export function isOpaqueToken(token: string): boolean {
  if (looksLikeJwt(token)) return token.split('.', encryptedJwtParts + 1).length === encryptedJwtParts
  return (
    formOf(token) === undefined &&
    !Object.values(secretPrefixes).some((prefix) => token.startsWith(`${prefix}_`))
  )
}

/**
 * A regular expression for secret scanners, without anchors and groups, which ERE, PCRE, RE2 and JavaScript read alike.
 */
export interface KeyPattern {
  readonly kind: keyof typeof keyMarks
  /** The beginning of such keys. */
  readonly prefix: string
  readonly pattern: string
}

/** The patterns of keys: with the configured prefix, and in the form from before it could be configured. */
export function keyPatterns(prefix: string): readonly KeyPattern[] {
  const tail = `_${accountIdPattern}_${secretPattern}_[0-9A-Za-z]{${keyChecksumLength}}`
  const kinds = keysOf(keyMarks)
  const configured = kinds.map((kind) => ({ kind, prefix: `${prefix}_${keyMarks[kind]}` }))
  const old = kinds.map((kind) => ({ kind, prefix: oldKeyPrefixes[kind] }))
  return [...configured, ...old].map((key) => ({ ...key, pattern: key.prefix + tail }))
}

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Bytes from this value on are rejected: 248 is the largest multiple of 62 that a byte can hold. */
const rejectedFrom = 248

/** A random text of letters and digits, each equally likely; 43 of them hold 256 bits. */
export function randomText(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < rejectedFrom && text.length < length) text += base62[byte % 62]
    }
  }
  return text
}

/** A number below 62^length in `length` letters and digits. */
export function toBase62(value: number, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest = Math.floor(rest / 62)) text = base62[rest % 62] + text
  return text
}
