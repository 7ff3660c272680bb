import { createHmac, randomInt } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import type { EpochMs } from '../time.ts'
import { type Keys, keyIdOf } from './sealing.ts'

// The codes of authenticator apps (RFC 6238): six digits, SHA-1, a new one every 30 s.

const periodS = 30
const digits = 6
/** RFC 4226 4: 160 bits. */
const secretBytes = 20
/** The codes of the adjacent steps are accepted too: clocks differ, and people type slowly (RFC 6238 5.2). */
const window = 1

const secretPattern = /^[A-Z2-7]{32}$/
const codePattern = /^\d{6}$/

/** A new secret, in Base32. */
export function createCodeSecret(): string {
  return new Secret({ size: secretBytes }).base32
}

export function isCodeSecret(text: string): boolean {
  return secretPattern.test(text)
}

/** `otpauth://totp/…`, which an app reads from a QR code. @param issuer the name that it shows, such as the host */
export function codeUri(
  secret: string,
  { issuer, email }: { readonly issuer: string; readonly email: string },
): string {
  return createTotp(secret, issuer, email).toString()
}

/** The time step of a code; undefined if it is wrong or too old. */
export function stepOfCode(secret: string, code: string, now: EpochMs): number | undefined {
  if (!codePattern.test(code)) return undefined
  const delta = createTotp(secret).validate({ token: code, timestamp: now, window })
  return delta === null ? undefined : Math.floor(now / 1_000 / periodS) + delta
}

function createTotp(secret: string, issuer = '', label = 'account'): TOTP {
  return new TOTP({
    issuer,
    label,
    algorithm: 'SHA1',
    digits,
    period: periodS,
    secret: Secret.fromBase32(secret),
  })
}

/** How many recovery codes an account has; each replaces the app once. */
export const recoveryCodesCount = 10

/** Without letters and digits that look alike: 31 characters, so that ten of them are 49 bits. */
const alphabet = '23456789abcdefghjkmnpqrstuvwxyz'
const halfLength = 5
const recoveryCodePattern = /^[2-9a-z]{5}-?[2-9a-z]{5}$/

/** New codes such as `k7m2p-x9qrt`. */
export function createRecoveryCodes(): readonly string[] {
  return Array.from({ length: recoveryCodesCount }, () => `${randomHalf()}-${randomHalf()}`)
}

export function isRecoveryCode(text: string): boolean {
  return recoveryCodePattern.test(text)
}

/** What is stored of a code. Its 49 bits could be searched, so the digest needs a key that the store does not have. */
function recoveryDigest(key: Uint8Array, accountId: string, code: string): string {
  return createHmac('sha256', key)
    .update(`${accountId} ${code.replace('-', '')}`)
    .digest('base64url')
}

/** The digests to store: while several keys are accepted, with the name of the one that made them. */
export function newRecoveryDigests(
  keys: Keys,
  accountId: string,
  codes: readonly string[],
): readonly string[] {
  const [current, ...others] = keys
  const mark = others.length === 0 ? '' : markOf(current)
  return codes.map((code) => mark + recoveryDigest(current, accountId, code))
}

/** The digests under which a code may be stored. */
export function possibleRecoveryDigests(keys: Keys, accountId: string, code: string): readonly string[] {
  return keys.flatMap((key) => {
    const digest = recoveryDigest(key, accountId, code)
    return [markOf(key) + digest, digest]
  })
}

/** Whether a stored digest names this key as its maker. */
export function isRecoveryDigestOf(key: Uint8Array, digest: string): boolean {
  return digest.startsWith(markOf(key))
}

function markOf(key: Uint8Array): string {
  return `${keyIdOf(key)}.`
}

function randomHalf(): string {
  return Array.from({ length: halfLength }, () => alphabet[randomInt(alphabet.length)]).join('')
}
