import { Secret, TOTP } from 'otpauth'

/** Codes as authenticator apps make them (RFC 6238): six digits, SHA-1, a new one every 30 s. */
const periodS = 30
const digits = 6
/** RFC 4226 4: 160 bits. */
const secretBytes = 20
/** Codes of the step before and after pass too: clocks differ, and people type slowly (RFC 6238 5.2). */
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
export function codeUri(secret: string, { issuer, email }: { issuer: string; email: string }): string {
  return createTotp(secret, issuer, email).toString()
}

/** The time step of a code; undefined where it is wrong, or too old. @param now milliseconds since 1970 */
export function stepOfCode(secret: string, code: string, now: number): number | undefined {
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
