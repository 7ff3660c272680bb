import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'

/** The first certificate in a PEM text, which is the one that is used; undefined if there is none. */
export function parseCertificate(pem: string): X509Certificate | undefined {
  return tryParse(() => new X509Certificate(pem))
}

/** A private key from PEM; undefined if the text is not a key, or is encrypted. */
export function parsePrivateKey(pem: string): KeyObject | undefined {
  return tryParse(() => createPrivateKey(pem))
}

/** Why TLS cannot use a certificate with its key; undefined if it can. */
export function tlsPairProblem(pair: { readonly cert: string; readonly key: string }): string | undefined {
  try {
    createSecureContext(pair)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** Why clients will reject a certificate because of its dates; undefined = they will not. */
export function validityProblem(pem: string, now: number): string | undefined {
  const certificate = parseCertificate(pem)
  if (!certificate) return undefined
  const { validFromDate, validToDate } = certificate
  if (now > validToDate.getTime()) return `the certificate has expired: ${certificate.validTo}`
  if (now < validFromDate.getTime()) return `the certificate is not valid before ${certificate.validFrom}`
  return undefined
}

function tryParse<Value>(parse: () => Value): Value | undefined {
  try {
    return parse()
  } catch {
    return undefined
  }
}
