import { hash, X509Certificate } from 'node:crypto'
import { invalidField } from '#platform/errors/gatehouse-error.ts'
import { keyLifetimeMsMax, type SecretKeyInput } from './key-input.ts'

/** A certificate that is to be a key of an account. */
export interface CertificateInput {
  /** One line, such as `CN=laptop, O=Example`; empty where it names none, or only the digest is known. */
  readonly subject: string
  /** Its end, in milliseconds since 1970; undefined = only the digest is known. */
  readonly validUntil: number | undefined
  /** SHA-256 of the DER. */
  readonly digest: Uint8Array
}

/** More than a fingerprint with its name and spaces around has. */
const fingerprintLengthMax = 200

/** How long a PEM text may be: a certificate has a few KiB, its chain some more. */
export const certificatePemLengthMax = 65_536

/** SHA-256 in hexadecimal, with or without colons, as `openssl x509 -fingerprint -sha256` and browsers show it. */
const fingerprint = /^(?:sha256 fingerprint=)?([0-9a-f]{2}(?::?[0-9a-f]{2}){31})$/i

/**
 * Reads the first certificate of a PEM text, as a chain begins with that of the client; or its SHA-256.
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

/** Whether a text has a private key, which is not repeated to anybody. */
export function hasPrivateKey(pem: string): boolean {
  return pem.includes('PRIVATE KEY-----')
}

function readCertificate(pem: string): X509Certificate | string {
  if (pem.length > certificatePemLengthMax) return `must have at most ${certificatePemLengthMax} characters`
  // A private key that was sent here is no longer private.
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
 * What a key is created from that ends with its certificate at the latest, or after ten years. Where only the digest is known,
 * the key has the end that was asked for, and the certificate is refused anyway once it has expired.
 * @throws GatehouseError `request-invalid` (field `expiresAt`) where it would end later
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
