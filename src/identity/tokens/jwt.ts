import type { KeyObject } from 'node:crypto'
import { createSigner, createVerifier, type Algorithm as JwtAlgorithm } from 'fast-jwt'
import { parseJsonObject } from '#platform/json.ts'
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
