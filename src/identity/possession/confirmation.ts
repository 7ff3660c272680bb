import { isRecord } from '#platform/json.ts'

/** What whoever sends a token has to prove: the claim `cnf` (RFC 7800). Both, where both are there. */
export interface Confirmation {
  /** That it has the private key of this thumbprint (RFC 9449 6.1), as base64url; undefined = no such proof is needed. */
  readonly jkt: string | undefined
}

const thumbprint = /^[0-9A-Za-z_-]{43}$/

/**
 * Reads the claim `cnf`.
 * @returns undefined where there is none: whoever has the token may use it; `unsupported` where it asks for a proof that
 *   is not known here, as it would go unchecked
 */
export function parseConfirmation(cnf: unknown): Confirmation | undefined | 'unsupported' {
  if (cnf === undefined) return undefined
  if (!isRecord(cnf)) return 'unsupported'
  const { jkt, ...others } = cnf
  return isThumbprint(jkt) && Object.keys(others).length === 0 ? { jkt } : 'unsupported'
}

function isThumbprint(value: unknown): value is string {
  return typeof value === 'string' && thumbprint.test(value)
}
