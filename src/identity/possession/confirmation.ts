import { isRecord } from '#platform/json.ts'

/** What whoever sends a token has to prove: the claim `cnf` (RFC 7800). Both, where both are there. */
export interface Confirmation {
  /**
   * Thumbprint of the private key that the client must have (RFC 9449 6.1), as base64url; undefined = none is needed.
   */
  readonly jkt: string | undefined
  /** SHA-256 of the certificate that the client must have (RFC 8705 3.1), as base64url; undefined = none is needed. */
  readonly certificate: string | undefined
}

const thumbprint = /^[0-9A-Za-z_-]{43}$/

/**
 * Reads the claim `cnf`.
 * @returns undefined where there is none: whoever has the token may use it; `unsupported` where it asks for a proof
 *   that is not known here, as it would go unchecked
 */
export function parseConfirmation(cnf: unknown): Confirmation | undefined | 'unsupported' {
  if (cnf === undefined) return undefined
  if (!isRecord(cnf)) return 'unsupported'
  const { jkt, 'x5t#S256': certificate, ...others } = cnf
  const isKnown = isThumbprint(jkt) && isThumbprint(certificate) && Object.keys(others).length === 0
  return isKnown && (jkt ?? certificate) !== undefined ? { jkt, certificate } : 'unsupported'
}

function isThumbprint(value: unknown): value is string | undefined {
  return value === undefined || (typeof value === 'string' && thumbprint.test(value))
}
