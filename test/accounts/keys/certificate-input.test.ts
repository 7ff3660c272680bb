import { createHash, X509Certificate } from 'node:crypto'
import t from 'tap'
import {
  certificatePemLengthMax,
  endingWith,
  parseCertificateInput,
} from '#accounts/keys/certificate-input.ts'
import { expiredCertificate, makeCertificate } from '../../setup/certificates.ts'

const { cert, key } = makeCertificate(t, 'DNS:laptop', 'laptop')
const now = Date.now()
const sha256 = createHash('sha256').update(new X509Certificate(cert).raw).digest('hex')
const input = { name: 'laptop', scopes: [], addresses: [], quota: undefined, expiresAt: undefined }

t.test('a certificate is read from PEM, or from its SHA-256 as programs print it', (t) => {
  const fromPem = parseCertificateInput(cert, now)
  t.match(fromPem, { subject: 'CN=laptop', validUntil: new X509Certificate(cert).validToDate.getTime() })
  t.equal(Buffer.from(fromPem.digest).toString('hex'), sha256)
  t.equal(endingWith(fromPem, input, now).expiresAt, fromPem.validUntil)
  const withColons = new X509Certificate(cert).fingerprint256
  for (const text of [
    sha256,
    sha256.toUpperCase(),
    withColons,
    `sha256 Fingerprint=${withColons}`,
    ` ${sha256}\n`,
  ]) {
    const read = parseCertificateInput(text, now)
    t.match(read, { subject: '', validUntil: undefined })
    t.equal(Buffer.from(read.digest).toString('hex'), sha256, text)
    t.equal(endingWith(read, input, now).expiresAt, undefined)
  }
  t.end()
})

t.test('anything else is refused, with the reason', (t) => {
  for (const [text, message] of [
    ['', /as PEM/],
    [sha256.slice(1), /its SHA-256 in hexadecimal/],
    [`${sha256}0`, /its SHA-256/],
    [`${sha256.slice(0, -1)}g`, /its SHA-256/],
    [sha256 + sha256, /its SHA-256/],
    [sha256 + ' '.repeat(200), /its SHA-256/],
    [cert + key, /must not contain the private key/],
    ['-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----', /cannot be read/],
    [expiredCertificate.cert, /expired on/],
    [cert + ' '.repeat(certificatePemLengthMax), /at most 65536 characters/],
  ] as const)
    t.throws(
      () => parseCertificateInput(text, now),
      { code: 'request-invalid', errors: [{ field: 'certificate', message }] },
      text.slice(0, 40),
    )
  t.end()
})
