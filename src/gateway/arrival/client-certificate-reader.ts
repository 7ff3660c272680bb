import { X509Certificate } from 'node:crypto'
import { type ClientCertificate, describeCertificate } from '#http/client-certificate.ts'
import type { Clock } from '#platform/time.ts'
import type { GatedArrival } from './arrival.ts'

/** In which field trusted proxies say which certificate their client has; `none` = they do not. */
export const certificateFields = ['none', 'Client-Cert', 'X-Forwarded-Client-Cert'] as const

/** The certificate of a request's client; undefined = it has none, it has expired, or it cannot be read. */
export type ReadClientCertificate = (arrival: GatedArrival) => ClientCertificate | undefined

/**
 * The certificate of the connection. Behind a trusted proxy that would be the proxy's own, so the proxy names that of
 * its client in a field, which means nothing in a request of anybody else.
 */
export function createClientCertificateReader(
  field: (typeof certificateFields)[number],
  clock: Clock = Date.now,
): ReadClientCertificate {
  function read({ client, exchange, fields }: GatedArrival): ClientCertificate | undefined {
    if (!client.isTrusted) return exchange.clientCertificate
    const [value, second] = fields.uncommon.certificates?.get(field.toLowerCase()) ?? []
    // If there are several, one may be the client's own.
    if (value === undefined || second !== undefined) return undefined
    return field === 'Client-Cert' ? readByteSequence(value) : readForwarded(value)
  }

  return (arrival) => {
    const certificate = read(arrival)
    // It may have expired since the connection was made.
    return certificate && clock() < certificate.validUntil ? certificate : undefined
  }
}

/** DER as a byte sequence (RFC 9440 2.2, RFC 9651 3.3.5). */
const byteSequence = /^:([A-Za-z0-9+/]+={0,2}):$/

function readByteSequence(value: string): ClientCertificate | undefined {
  const encoded = byteSequence.exec(value)?.[1]
  return encoded === undefined ? undefined : parse(Buffer.from(encoded, 'base64'))
}

const sha256Hex = /^[0-9a-f]{64}$/i

/**
 * As Envoy writes it: `Hash=…;Cert="…"`, of which Cert is a PEM that is percent-encoded. Several elements are refused:
 * a proxy that appends one of its own keeps those that its client has sent.
 */
function readForwarded(value: string): ClientCertificate | undefined {
  const pairs = readPairs(value)
  const pem = pairs?.get('cert')
  if (pem !== undefined) return parse(decode(pem))
  const digest = pairs?.get('hash') ?? ''
  if (!sha256Hex.test(digest)) return undefined
  return {
    thumbprint: Buffer.from(digest, 'hex').toString('base64url'),
    validUntil: Number.POSITIVE_INFINITY,
  }
}

/** Names in lower case, with their values; undefined where there are several elements, or a name comes twice. */
function readPairs(value: string): ReadonlyMap<string, string> | undefined {
  const found = new Map<string, string>()
  let isQuoted = false
  let start = 0
  for (let at = 0; at <= value.length; at++) {
    const character = value[at]
    if (isQuoted && character === '\\') at++
    else if (character === '"') isQuoted = !isQuoted
    else if (character === ',' && !isQuoted) return undefined
    else if (character === undefined || (character === ';' && !isQuoted)) {
      const [name = '', ...rest] = value.slice(start, at).split('=')
      const key = name.trim().toLowerCase()
      // Names and addresses may well come several times.
      if (found.has(key) && (key === 'cert' || key === 'hash')) return undefined
      found.set(key, rest.join('=').replaceAll('"', '').trim())
      start = at + 1
    }
  }
  return isQuoted ? undefined : found
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}

function parse(certificate: string | Buffer): ClientCertificate | undefined {
  try {
    return describeCertificate(new X509Certificate(certificate))
  } catch {
    return undefined
  }
}
