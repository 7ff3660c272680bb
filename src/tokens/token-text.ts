import { roleEpochOf } from './token-id.ts'

/** What the text of a token tells of it, whoever wrote it: nothing here is checked against a signature. */

/** The `typ` of an access token (RFC 9068 2.1). */
export const accessTokenType = 'at+jwt'

/** Whether it is spelled as its issuer did: else one token could take many places among the verified ones. */
export function isCanonical(token: string): boolean {
  const signature = token.slice(token.lastIndexOf('.') + 1)
  return Buffer.from(signature, 'base64url').toString('base64url') === signature
}

/** The key ID of a header that is as ours are; no `crit`, no key of its own (RFC 8725 3.1, 3.10). */
export function signingKeyIdOf(token: string): string | undefined {
  const header = headerOf(token)
  if (header?.typ !== accessTokenType || Object.hasOwn(header, 'crit')) return undefined
  const { kid } = header
  return typeof kid === 'string' ? kid : undefined
}

/** The epoch of the role that a token carries which was found right. */
export function roleEpochIn(token: string): number {
  const jti = payloadOf(token)?.jti
  return roleEpochOf(typeof jti === 'string' ? jti : '')
}

/** The header, where it is an object. */
export function headerOf(token: string): Record<string, unknown> | undefined {
  return parseJson(partOf(token, 0))
}

/** The payload, where it is an object. */
export function payloadOf(token: string): Record<string, unknown> | undefined {
  return parseJson(partOf(token, 1))
}

/** The text of the header (0) or payload (1), of whoever wrote it. */
function partOf(token: string, index: 0 | 1): string {
  return Buffer.from(token.split('.', 2)[index] ?? '', 'base64url').toString()
}

function parseJson(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
