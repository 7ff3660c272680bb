import { createHmac, type KeyObject, sign } from 'node:crypto'
import { createVerifiedTokens } from '#identity/cache/bounded-caches.ts'
import { type AccessTokensOptions, createAccessTokens } from '#identity/tokens/access-token.ts'
import { accessTokenClaimsBytes } from '#identity/tokens/access-token-claims.ts'
import { type Algorithm, generateKeyMaterial, type KeyMaterial } from '#identity/tokens/key-material.ts'
import { createKeyring } from '#identity/tokens/keyring.ts'
import type { SigningKey } from '#identity/tokens/signing-keys.ts'

/** JWTs made by hand (RFC 7515), so that they can be made wrong, and access tokens that judge them. */

export const issuer = 'https://api.example.com'
export const audience = 'gatehouse'
/** Seconds, as in claims. */
export const startS = 1_800_000_000
export const lifetimeS = 600

export type Json = Readonly<Record<string, unknown>>

export function newSigningKey(
  kid: string,
  algorithm: Algorithm = 'ES256',
  changes: Partial<SigningKey> = {},
): SigningKey {
  return { kid, algorithm, createdAt: 0, signsFrom: 0, material: generateKeyMaterial(algorithm), ...changes }
}

/** Access tokens with a clock of their own, that know some keys. */
export function createBench(keys: readonly SigningKey[], options: Partial<AccessTokensOptions> = {}) {
  const keyring = createKeyring(keys[0]?.material.algorithm ?? 'ES256')
  keyring.replace(keys)
  const time = { nowMs: startS * 1_000 }
  const accessTokens = createAccessTokens({
    keyring,
    verified: createVerifiedTokens(1_000, accessTokenClaimsBytes),
    issuer,
    audience,
    accessLifetimeMs: lifetimeS * 1_000,
    clockToleranceMs: 5_000,
    clock: () => time.nowMs,
    ...options,
  })
  return { keyring, accessTokens, time, verify: accessTokens.verify, issue: accessTokens.issue }
}

export const subject = {
  accountId: 'an-account',
  sessionId: 'a-session',
  role: 'User',
  roleEpoch: 1,
} as const

/** Claims that are right. */
export const rightClaims: Json = {
  iss: issuer,
  aud: audience,
  sub: subject.accountId,
  sid: subject.sessionId,
  role: subject.role,
  iat: startS,
  exp: startS + lifetimeS,
  jti: 'one',
}

export function rightHeader({ kid, material: { algorithm } }: SigningKey): Json {
  return { alg: algorithm, typ: 'at+jwt', kid }
}

/** A token with this header and payload, signed as the algorithm says. */
export function forge(
  header: Json | string,
  payload: Json | string,
  { algorithm, privateKey }: KeyMaterial,
): string {
  if (!privateKey) throw new Error('this key cannot sign')
  const signed = `${encode(header)}.${encode(payload)}`
  return `${signed}.${signatureOf(signed, algorithm, privateKey)}`
}

export function encode(part: Json | string): string {
  return Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url')
}

export function decodePart(token: string, index: number): Json {
  return JSON.parse(Buffer.from(token.split('.')[index] ?? '', 'base64url').toString()) as Json
}

export function signatureOf(signed: string, algorithm: Algorithm, key: KeyObject): string {
  switch (algorithm) {
    case 'HS256':
      return createHmac('sha256', key).update(signed).digest('base64url')
    case 'ES256':
      return sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')
    case 'RS256':
      return sign('sha256', Buffer.from(signed), key).toString('base64url')
    case 'EdDSA':
      return sign(null, Buffer.from(signed), key).toString('base64url')
    default:
      return algorithm satisfies never
  }
}
