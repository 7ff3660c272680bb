import type { KeyObject } from 'node:crypto'
import { createSigner, createVerifier, type Algorithm as JwtAlgorithm } from 'fast-jwt'
import { keyText, type SigningKey } from './signing-keys.ts'

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
 * The same for any key.
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
