import { isUtf8 } from 'node:buffer'
import type { KeyObject } from 'node:crypto'
import { createSigner, createVerifier, type Algorithm as JwtAlgorithm } from 'fast-jwt'
import { duplicateMember, parseJsonObject } from '#platform/json.ts'
import { keyText } from './key-material.ts'
import type { SigningKey } from './signing-keys.ts'

/** Signs JWTs of one type (RFC 8725 3.11): a JWT that is signed for one purpose cannot be used for another. */
export function createJwtSigner(
  { kid, material: { algorithm, privateKey } }: SigningKey,
  type: string,
): (claims: Readonly<Record<string, unknown>>) => string {
  if (!privateKey) throw new Error(`the key ${kid} cannot sign`)
  const header = { alg: algorithm, typ: type, kid }
  return createSigner({ key: keyText(privateKey, 'pkcs8'), algorithm, kid, header })
}

/** Verifies signatures of one of our keys, and nothing else: the caller checks type, times and claims. */
export function createJwtVerifier({
  material: { algorithm, publicKey },
}: SigningKey): (token: string) => unknown {
  return createSignatureVerifier(publicKey, algorithm)
}

/**
 * Verifies signatures of any key.
 * @returns a function that returns the payload, and throws whatever is wrong with the token
 */
export function createSignatureVerifier(
  publicKey: KeyObject,
  algorithm: JwtAlgorithm,
): (token: string) => unknown {
  return createVerifier({
    key: keyText(publicKey, 'spki'),
    // The algorithm of the key, never that of the token (RFC 8725 3.1).
    algorithms: [algorithm],
    // Times are checked on every use, with the clock of the gateway.
    ignoreExpiration: true,
    ignoreNotBefore: true,
    cache: false,
  })
}

// What can be read from the text of a token of any issuer, unverified.

/** The `typ` of an access token (RFC 9068 2.1). */
export const accessTokenType = 'at+jwt'

/** Whether its base64url is canonical: otherwise one token could have many entries in the cache. */
export function isCanonical(token: string): boolean {
  const signature = token.slice(token.lastIndexOf('.') + 1)
  return Buffer.from(signature, 'base64url').toString('base64url') === signature
}

/** The key ID, if the header is like ours: no `crit`, no embedded key (RFC 8725 3.1, 3.10). */
export function signingKeyIdOf(token: string): string | undefined {
  const header = headerOf(token)
  if (header?.typ !== accessTokenType || Object.hasOwn(header, 'crit')) return undefined
  const { kid } = header
  return typeof kid === 'string' ? kid : undefined
}

/** The header, if it is an object. */
export function headerOf(token: string): Record<string, unknown> | undefined {
  return parseJsonObject(partOf(token, 0))
}

/** The payload, if it is an object. */
export function payloadOf(token: string): Record<string, unknown> | undefined {
  return parseJsonObject(partOf(token, 1))
}

/** The lifetime of a token of ours, in seconds, for the cookie that holds it. */
export function tokenMaxAgeS(token: string): number {
  const { iat, exp } = payloadOf(token) ?? {}
  return typeof iat === 'number' && typeof exp === 'number' ? Math.max(0, exp - iat) : 0
}

/** Whether a text could be an access token of ours, or of a gateway with other keys; the signature is not checked. */
export function looksLikeAccessToken(text: string): boolean {
  return text.startsWith('eyJ') && headerOf(text)?.typ === accessTokenType
}

/** The text of the header (0) or payload (1), unchecked. */
function partOf(token: string, index: 0 | 1): string {
  return Buffer.from(token.split('.', 2)[index] ?? '', 'base64url').toString()
}

/** What a JWT of another party says, unverified. */
export interface ReadJwt {
  readonly token: string
  readonly header: Readonly<Record<string, unknown>>
  readonly payload: Readonly<Record<string, unknown>>
  readonly kid: string | undefined
  /** Why it cannot be valid, whoever has signed it. */
  readonly wrong: string | undefined
}

/** @returns undefined where it is no JWT with an object as its payload */
export function readJwt(token: string): ReadJwt | undefined {
  const parts = token.split('.', 4)
  const [headerText, payloadText] = parts.map(decodeText)
  const header = headerText === undefined ? undefined : parseJsonObject(headerText)
  const payload = payloadText === undefined ? undefined : parseJsonObject(payloadText)
  if (parts.length !== 3 || !header || !payload || headerText === undefined || payloadText === undefined)
    return undefined
  const { kid } = header
  return {
    token,
    header,
    payload,
    kid: typeof kid === 'string' ? kid : undefined,
    wrong: wrongForm(token, header, `[${headerText},${payloadText}]`),
  }
}

function decodeText(part: string): string | undefined {
  const bytes = Buffer.from(part, 'base64url')
  // Otherwise different bytes would become the same text.
  return isUtf8(bytes) ? bytes.toString() : undefined
}

function wrongForm(token: string, { kid, crit }: ReadJwt['header'], json: string): string | undefined {
  if (kid !== undefined && typeof kid !== 'string') return 'kid is not a string'
  // No extension is understood here (RFC 7515 4.1.11).
  if (crit !== undefined) return 'crit'
  if (!isCanonical(token)) return 'the signature is not canonical base64url'
  return duplicateMember(json) === undefined ? undefined : 'a member appears twice'
}

/** `typ` is a media type: case does not matter, and `application/` may be left out (RFC 7515 4.1.9). */
export function isType(typ: unknown, type: string): boolean {
  const name = typeof typ === 'string' ? typ.toLowerCase() : ''
  return name === type || name === `application/${type}`
}
