import { hash, X509Certificate } from 'node:crypto'
import { invalidField } from '#platform/errors/gatehouse-error.ts'
import { keyLifetimeMsMax, type SecretKeyInput } from './key-input.ts'

/** A certificate that is to be a key of an account. */
export interface CertificateInput {
  /** One line, such as `CN=laptop, O=Example`; empty where it names none. */
  readonly subject: string
  /** Its end, in milliseconds since 1970. */
  readonly validUntil: number
  /** SHA-256 of the DER. */
  readonly digest: Uint8Array
}

/** How long a PEM text may be: a certificate has a few KiB, its chain some more. */
export const certificatePemLengthMax = 65_536

/**
 * Reads the first certificate of a PEM text; a chain begins with that of the client.
 * @throws GatehouseError `request-invalid` (field `certificate`)
 */
export function parseCertificateInput(pem: string, now: number): CertificateInput {
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

function readCertificate(pem: string): X509Certificate | string {
  if (pem.length > certificatePemLengthMax) return `must have at most ${certificatePemLengthMax} characters`
  // A private key that was sent here is no longer private.
  if (pem.includes('PRIVATE KEY-----')) return 'must not contain the private key, which stays with the client'
  if (!pem.includes('-----BEGIN CERTIFICATE-----'))
    return 'must be a certificate as PEM: it begins with -----BEGIN CERTIFICATE-----'
  try {
    return new X509Certificate(pem)
  } catch {
    return 'cannot be read as an X.509 certificate'
  }
}

/**
 * What a key is created from that ends with its certificate at the latest, or after ten years.
 * @throws GatehouseError `request-invalid` (field `expiresAt`) where it would end later
 */
export function endingWith(
  { validUntil }: CertificateInput,
  input: SecretKeyInput,
  now: number,
): SecretKeyInput {
  const { expiresAt = Math.min(validUntil, now + keyLifetimeMsMax) } = input
  if (expiresAt <= validUntil) return { ...input, expiresAt }
  const message = `must not be after ${new Date(validUntil).toISOString()}, when the certificate expires`
  throw invalidField('expiresAt', message)
}
