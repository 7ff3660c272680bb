import { hash, type X509Certificate } from 'node:crypto'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { EpochMs } from '#platform/time.ts'

/** A certificate whose private key a client has proven to have. */
export interface ClientCertificate {
  /** SHA-256 of the certificate in DER, as base64url: `x5t#S256` of RFC 8705 3.1. */
  readonly thumbprint: string
  /** Infinity = it is not known. */
  readonly validUntil: EpochMs
}

/** Read once for each connection: null = the client has none. */
const known = new WeakMap<Socket, ClientCertificate | null>()

/**
 * The certificate of a connection's client; undefined = it has sent none, or not one of the authorities that are
 * trusted.
 */
export function clientCertificateOf(socket: Socket): ClientCertificate | undefined {
  let certificate = known.get(socket)
  if (certificate === undefined) {
    certificate = readCertificate(socket) ?? null
    known.set(socket, certificate)
  }
  return certificate ?? undefined
}

function readCertificate(socket: Socket): ClientCertificate | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined
  const certificate = socket.getPeerX509Certificate()
  return certificate && describeCertificate(certificate)
}

export function describeCertificate({ raw, validToDate }: X509Certificate): ClientCertificate {
  return { thumbprint: hash('sha256', raw, 'base64url'), validUntil: validToDate.getTime() }
}
