import { hash, X509Certificate } from 'node:crypto'
import { parseAddressRange } from '#platform/addresses.ts'
import { type FieldError, GatehouseError, invalidField } from '#platform/errors/gatehouse-error.ts'
import { objectSchema, orNull, text, texts } from '#platform/json-schema.ts'
import { dayMs, type EpochMs } from '#platform/time.ts'
import type { Quota } from '#store/quotas.ts'
import { defaultKeyName } from '#store/secret-keys.ts'

/** What a further secret key is created from. */
export interface SecretKeyInput {
  /** Unique among the account's keys. */
  readonly name: string
  /** Empty = it is not limited. */
  readonly scopes: readonly string[]
  /** Addresses and CIDR ranges that it is accepted from; empty = from anywhere. */
  readonly addresses: readonly string[]
  /** How many requests it may send; undefined = as many as its account. */
  readonly quota?: Quota | undefined
  /** Milliseconds since 1970; undefined = it does not expire. */
  readonly expiresAt: number | undefined
}

/** For a key's name, and for each scope. */
export const keyNameLengthMax = 64
const scopeLengthMax = 64
/** How many one key may have. */
export const scopesMax = 32
export const addressesMax = 32
/** How far ahead a key may expire: ten years. */
export const keyLifetimeMsMax = 3_653 * dayMs

/** The same maximum as for the quota of a plan. */
const keyQuotaMax = 1_000_000_000_000
export const quotaRule = `must be 1 to ${keyQuotaMax} per day or month, such as 1000/day`

const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]*$/
/** RFC 6749 3.3, without the comma, which separates scopes in commands. */
export const scopePattern = `^[!#-+\\--\\[\\]-~]{1,${scopeLengthMax}}$`
const scope = new RegExp(scopePattern)

/** @throws GatehouseError `request-invalid` with every field that is wrong */
export function assertValidKey(input: SecretKeyInput, now: number): void {
  const errors = findKeyErrors(input, now)
  if (errors.length > 0) throw new GatehouseError('request-invalid', { errors })
}

/** What is wrong with the name of the default key, as no action of further keys takes it. */
export const defaultNameError = `"${defaultKeyName}" is the name of the key that a reset creates`

/** Every field that is wrong. */
export function findKeyErrors(
  { name, scopes, addresses, quota, expiresAt }: SecretKeyInput,
  now: number,
): FieldError[] {
  const errors: FieldError[] = []
  if (name === defaultKeyName) {
    errors.push({ field: 'name', message: defaultNameError })
  } else if (name.length > keyNameLengthMax || !namePattern.test(name)) {
    const message = `must be 1 to ${keyNameLengthMax} letters, digits, . _ or -, starting with a letter or digit`
    errors.push({ field: 'name', message })
  }
  if (scopes.length > scopesMax || !isDistinct(scopes) || !scopes.every((each) => scope.test(each))) {
    const message = `must be at most ${scopesMax} different scopes of 1 to ${scopeLengthMax} visible ASCII characters, without " , and \\`
    errors.push({ field: 'scopes', message })
  }
  if (addresses.length > addressesMax || !addresses.every((each) => parseAddressRange(each))) {
    const message = `must be at most ${addressesMax} addresses or CIDR ranges, such as 203.0.113.7 or 10.0.0.0/8`
    errors.push({ field: 'addresses', message })
  }
  if (quota !== undefined && !(quota.limit >= 1 && quota.limit <= keyQuotaMax))
    errors.push({ field: 'quota', message: quotaRule })
  if (expiresAt !== undefined && !(expiresAt > now && expiresAt <= now + keyLifetimeMsMax)) {
    errors.push({ field: 'expiresAt', message: 'must be in the future, at most ten years ahead' })
  }
  return errors
}

/** @param text such as `1000/day` @returns undefined if it has another form */
export function parseQuota(text: string): Quota | undefined {
  const [, limit, per] = /^(\d{1,15})\/(day|month)$/.exec(text) ?? []
  return limit === undefined ? undefined : { limit: Number(limit), per: per === 'day' ? 'day' : 'month' }
}

/** Such as `1000/day`. */
export function quotaText({ limit, per }: Quota): string {
  return `${limit}/${per}`
}

/** What the audit log has of a key that was created or changed. */
export function keyDetails({ name, scopes, addresses, quota, expiresAt }: SecretKeyInput) {
  return {
    name,
    scopes: scopes.join(' '),
    ...(addresses.length > 0 && { addresses: addresses.join(' ') }),
    ...(quota && { quota: quotaText(quota) }),
    ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt).toISOString() }),
  }
}

function isDistinct(texts: readonly string[]): boolean {
  return new Set(texts).size === texts.length
}

/** The longest overlap that any reset may ask for: 30 days. */
export const graceSecondsMax = 30 * 86_400

/** Whether it is a valid grace period: 0 to `graceSecondsMax`, with fractions. */
export function isValidGrace(seconds: number): boolean {
  return seconds >= 0 && seconds <= graceSecondsMax
}

/** @throws GatehouseError `request-invalid` (field `graceSeconds`) */
export function assertValidGrace(graceSeconds: number): void {
  if (isValidGrace(graceSeconds)) return
  throw invalidField('graceSeconds', `must be a number from 0 to ${graceSecondsMax}`)
}

/** When a grace period ends; undefined = there is none. */
export function graceEnd(graceSeconds: number, now: number): number | undefined {
  return graceSeconds > 0 ? now + graceSeconds * 1_000 : undefined
}

// The members of a key in bodies and files: what a name, a scope or an address may be is checked by findKeyErrors.

export const keyLimitSchemas = {
  scopes: { ...texts, description: 'What the key is limited to; empty = it is not limited.' },
  addresses: {
    ...texts,
    description: 'Addresses and CIDR ranges that the key is accepted from; empty = from anywhere.',
  },
} as const

export const keyQuota = {
  ...objectSchema({
    limit: { type: 'integer', minimum: 1, maximum: keyQuotaMax },
    per: { type: 'string', enum: ['day', 'month'], description: 'UTC day or month.' },
  }),
  description:
    'How many requests the key may send, or units on routes with `quotaCounts: units`, besides what the plan of the account allows.',
} as const
export const keyQuotaOrNull = {
  ...orNull(keyQuota),
  description: `${keyQuota.description} null = unlimited.`,
} as const

export const keyName = {
  ...text,
  description: `1 to ${keyNameLengthMax} letters, digits, ., _ and -; unique among the keys of the account.`,
} as const

/** A certificate that is to be a key of an account. */
export interface CertificateInput {
  /** One line, such as `CN=laptop, O=Example`; empty where it names none, or only the digest is known. */
  readonly subject: string
  /** Its end; undefined = only the digest is known. */
  readonly validUntil: EpochMs | undefined
  /** SHA-256 of the DER. */
  readonly digest: Uint8Array
}

/** Longer than any fingerprint with its label and spaces around it. */
const fingerprintLengthMax = 200

/** Maximum length of a PEM text: a certificate has a few KiB, its chain some more. */
export const certificatePemLengthMax = 65_536

/** SHA-256 in hexadecimal, with or without colons, as `openssl x509 -fingerprint -sha256` and browsers show it. */
const fingerprint = /^(?:sha256 fingerprint=)?([0-9a-f]{2}(?::?[0-9a-f]{2}){31})$/i

/**
 * Reads the first certificate of a PEM text, which is the client's in a chain; or a SHA-256.
 * @throws GatehouseError `request-invalid` (field `certificate`)
 */
export function parseCertificateInput(pem: string, now: number): CertificateInput {
  const [, digits] = fingerprint.exec(pem.slice(0, fingerprintLengthMax).trim()) ?? []
  if (digits !== undefined && pem.length <= fingerprintLengthMax)
    return { subject: '', validUntil: undefined, digest: Buffer.from(digits.replaceAll(':', ''), 'hex') }
  const certificate = readCertificate(pem)
  if (typeof certificate === 'string') throw invalidField('certificate', certificate)
  const { subject, validToDate, raw } = certificate
  const validUntil = validToDate.getTime()
  if (validUntil <= now) throw invalidField('certificate', `expired on ${validToDate.toISOString()}`)
  return {
    subject: (subject ?? '').replaceAll('\n', ', ').replaceAll(/\p{Cc}/gu, '?'),
    validUntil,
    digest: hash('sha256', raw, 'buffer'),
  }
}

/** Whether a text contains a private key, which must not be shown again. */
export function hasPrivateKey(pem: string): boolean {
  return pem.includes('PRIVATE KEY-----')
}

function readCertificate(pem: string): X509Certificate | string {
  if (pem.length > certificatePemLengthMax) return `must have at most ${certificatePemLengthMax} characters`
  // The message tells people that the key they sent is no longer private.
  if (hasPrivateKey(pem)) return 'must not contain the private key, which stays with the client'
  if (!pem.includes('-----BEGIN CERTIFICATE-----'))
    return 'must be a certificate as PEM, which begins with -----BEGIN CERTIFICATE-----, or its SHA-256 in hexadecimal'
  try {
    return new X509Certificate(pem)
  } catch {
    return 'cannot be read as an X.509 certificate'
  }
}

/**
 * The input for a key that expires with its certificate at the latest, and after ten years at most. If only the digest
 * is known, the key expires when it was asked to; the certificate is refused anyway once it has expired.
 * @throws GatehouseError `request-invalid` (field `expiresAt`) if the key would end later than its certificate
 */
export function endingWith(
  { validUntil }: CertificateInput,
  input: SecretKeyInput,
  now: number,
): SecretKeyInput {
  if (validUntil === undefined) return input
  const { expiresAt = Math.min(validUntil, now + keyLifetimeMsMax) } = input
  if (expiresAt <= validUntil) return { ...input, expiresAt }
  const message = `must not be after ${new Date(validUntil).toISOString()}, when the certificate expires`
  throw invalidField('expiresAt', message)
}

/** What is said of a text that `parseDigest` cannot read. */
export const digestRule = 'must be a SHA-256, 64 hexadecimal digits or 43 characters of base64'
const hex = /^[0-9a-f]{64}$/i
const base64 = /^[\w+/-]{43}=?$/

/** A SHA-256: 64 hexadecimal digits, or base64. */
export function parseDigest(text: string): Uint8Array | undefined {
  if (hex.test(text)) return Buffer.from(text, 'hex')
  return base64.test(text) ? Buffer.from(text, 'base64') : undefined
}
