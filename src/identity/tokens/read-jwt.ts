import { isUtf8 } from 'node:buffer'
import { duplicateMember, parseJsonObject } from '#platform/json.ts'
import { isCanonical } from './jwt.ts'

/** What a JWT of another party says, unverified. */
export interface ReadJwt {
  readonly token: string
  readonly header: Readonly<Record<string, unknown>>
  readonly payload: Readonly<Record<string, unknown>>
  readonly kid: string | undefined
  /** Why it cannot be valid, whoever has signed it. */
  readonly wrong: string | undefined
}

/** @returns undefined where it is no JWT with an object as its payload */
export function readJwt(token: string): ReadJwt | undefined {
  const parts = token.split('.', 4)
  const [headerText, payloadText] = parts.map(decodeText)
  const header = headerText === undefined ? undefined : parseJsonObject(headerText)
  const payload = payloadText === undefined ? undefined : parseJsonObject(payloadText)
  if (parts.length !== 3 || !header || !payload || headerText === undefined || payloadText === undefined)
    return undefined
  const { kid } = header
  return {
    token,
    header,
    payload,
    kid: typeof kid === 'string' ? kid : undefined,
    wrong: wrongForm(token, header, `[${headerText},${payloadText}]`),
  }
}

function decodeText(part: string): string | undefined {
  const bytes = Buffer.from(part, 'base64url')
  // Otherwise different bytes would become the same text.
  return isUtf8(bytes) ? bytes.toString() : undefined
}

function wrongForm(token: string, { kid, crit }: ReadJwt['header'], json: string): string | undefined {
  if (kid !== undefined && typeof kid !== 'string') return 'kid is not a string'
  // No extension is understood here (RFC 7515 4.1.11).
  if (crit !== undefined) return 'crit'
  if (!isCanonical(token)) return 'the signature is not canonical base64url'
  return duplicateMember(json) === undefined ? undefined : 'a member appears twice'
}

/** `typ` is a media type: case does not matter, and `application/` may be left out (RFC 7515 4.1.9). */
export function isType(typ: unknown, type: string): boolean {
  const name = typeof typ === 'string' ? typ.toLowerCase() : ''
  return name === type || name === `application/${type}`
}
