import { hash, X509Certificate } from 'node:crypto'
import { invalidField } from '#platform/errors/gatehouse-error.ts'
import type { EpochMs } from '#platform/time.ts'
import { keyLifetimeMsMax, type SecretKeyInput } from './input.ts'

/** A certificate that is to be a key of an account. */
export interface CertificateInput {
  /** One line, such as `CN=laptop, O=Example`; empty if the certificate names none, or only the digest is known. */
  readonly subject: string
  /** When it expires; undefined = only the digest is known. */
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
 * Reads the first certificate of a PEM text (in a chain, that of the client), or the SHA-256 of a certificate.
 * @throws GatehouseError `request-invalid` (field `certificate`)
 */
export function parseCertificateInput(pem: string, now: EpochMs): CertificateInput {
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
 * is known, the input stays as it is: the certificate is refused anyway once it has expired.
 * @throws GatehouseError `request-invalid` (field `expiresAt`) if the key would end later than its certificate
 */
export function endingWith(
  { validUntil }: CertificateInput,
  input: SecretKeyInput,
  now: EpochMs,
): SecretKeyInput {
  if (validUntil === undefined) return input
  const { expiresAt = Math.min(validUntil, now + keyLifetimeMsMax) } = input
  if (expiresAt <= validUntil) return { ...input, expiresAt }
  const message = `must not be after ${new Date(validUntil).toISOString()}, when the certificate expires`
  throw invalidField('expiresAt', message)
}
