import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { isIPv4 } from 'node:net'

export interface Certificate {
  readonly key: string
  readonly cert: string
}

const dayMs = 86_400_000

/** Tags of DER (ITU-T X.690). */
const boolean = 0x01
const integer = 0x02
const bitString = 0x03
const octetString = 0x04
const objectIdentifier = 0x06
const utf8String = 0x0c
const utcTime = 0x17
const sequence = 0x30
const set = 0x31
const explicit = (number: number) => 0xa0 + number

/** The contents of object identifiers. */
const ecdsaWithSha256 = '2a8648ce3d040302'
const commonName = '550403'
const subjectAltName = '551d11'
const basicConstraints = '551d13'

/**
 * A certificate that vouches for itself (RFC 5280), good for two days.
 * @param names such as `DNS:localhost,IP:127.0.0.1`
 * @param subjectName by it an authority is found
 */
export function makeCertificate(_t: unknown, names: string, subjectName = 'test'): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const algorithm = der(sequence, oid(ecdsaWithSha256))
  const subject = der(
    sequence,
    der(set, der(sequence, oid(commonName), der(utf8String, Buffer.from(subjectName)))),
  )
  const now = Date.now()
  // The first byte keeps the number positive, and its encoding the shortest.
  const serialNumber = Buffer.concat([Buffer.of(1), randomBytes(15)])
  const isAuthority = der(sequence, der(boolean, Buffer.of(0xff)))
  const content = der(
    sequence,
    der(explicit(0), der(integer, Buffer.of(2))),
    der(integer, serialNumber),
    algorithm,
    subject,
    der(sequence, timeAt(now), timeAt(now + 2 * dayMs)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(
      explicit(3),
      der(sequence, extension(subjectAltName, altNames(names)), extension(basicConstraints, isAuthority)),
    ),
  )
  // Before the bits: how many of the last byte are unused.
  const signature = der(bitString, Buffer.of(0), sign('sha256', content, privateKey))
  const base64 = der(sequence, content, algorithm, signature).toString('base64')
  const lines = base64.replace(/.{64}(?=.)/g, '$&\n')
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  }
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const length =
    content.length < 0x80
      ? [content.length]
      : content.length < 0x100
        ? [0x81, content.length]
        : [0x82, content.length >> 8, content.length & 0xff]
  return Buffer.concat([Buffer.of(tag, ...length), content])
}

function oid(hex: string): Buffer {
  return der(objectIdentifier, Buffer.from(hex, 'hex'))
}

function extension(id: string, value: Buffer): Buffer {
  return der(sequence, oid(id), der(octetString, value))
}

/** GeneralNames: a dNSName is 2, an iPAddress 7. */
function altNames(names: string): Buffer {
  const encoded = names.split(',').map((each) => {
    const [kind, name = ''] = each.split(':')
    if (kind === 'DNS') return der(0x82, Buffer.from(name))
    if (kind !== 'IP' || !isIPv4(name)) throw new Error(`cannot put ${each} into a certificate`)
    return der(0x87, Buffer.from(name.split('.').map(Number)))
  })
  return der(sequence, ...encoded)
}

/** As `YYMMDDhhmmssZ`. */
function timeAt(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/[-T:]/g, '').slice(2, 14)
  return der(utcTime, Buffer.from(`${digits}Z`))
}

/** For localhost and 127.0.0.1, good on one day of January 2020; of the tests alone. */
export const expiredCertificate: Certificate = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg8O+qNDlVam7yR0dt
yP+u5q4i5q4GrE0XwpFw5Y5XSlmhRANCAATZsulSSK9F/LJsS2jyesylZPtwe/B7
0sFg5yiXVip0ZpEkKkSR0LqHa+3mXtvPb0vO1juB6ahv10Fo6G62ggIz
-----END PRIVATE KEY-----
`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBXTCCAQSgAwIBAgIBATAKBggqhkjOPQQDAjASMRAwDgYDVQQDDAdleHBpcmVk
MB4XDTIwMDEwMTAwMDAwMFoXDTIwMDEwMjAwMDAwMFowEjEQMA4GA1UEAwwHZXhw
aXJlZDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABNmy6VJIr0X8smxLaPJ6zKVk
+3B78HvSwWDnKJdWKnRmkSQqRJHQuodr7eZe289vS87WO4HpqG/XQWjobraCAjOj
SzBJMBoGA1UdEQQTMBGCCWxvY2FsaG9zdIcEfwAAATAMBgNVHRMEBTADAQH/MB0G
A1UdDgQWBBRY6ZyJIYTSA2I2r0XAMaSIlvR2fDAKBggqhkjOPQQDAgNHADBEAiBl
cpp//ZBrPP6ywTZhKHRaVO5Bx0CZfsBjs2Epmh53lgIgSljWyxiJrJppR1TNQQJx
FDSWCRXcRcPEQfB6NUoDWws=
-----END CERTIFICATE-----
`,
}
