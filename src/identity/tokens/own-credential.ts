import {
  accountIdPattern,
  keyMarks,
  oldKeyPrefixes,
  secretPrefixes,
  sessionIdPattern,
} from '#platform/secrets/format.ts'
import { payloadOf } from './token-text.ts'

const { refreshToken, ...withAccountId } = secretPrefixes
/**
 * What begins any credential of ours but a JWT, with its handle: the rest need not be whole, as most of a key is a secret
 * too. Without the handle `gsk_` is how another well-known service begins its keys.
 */
const ownStart = new RegExp(
  [
    `(?:^|[^0-9A-Za-z])(?:${oneOf(oldKeyPrefixes)}|${oneOf(withAccountId)})_${accountIdPattern}_`,
    `[0-9a-z]_(?:${oneOf(keyMarks)})_${accountIdPattern}_`,
    `(?:^|[^0-9A-Za-z])${refreshToken}_${sessionIdPattern}_`,
  ].join('|'),
)
const basicScheme = /^Basic[ \t]+/i
const notInJwt = /[^0-9A-Za-z_.-]+/

function oneOf(names: Readonly<Record<string, string>>): string {
  return Object.values(names).join('|')
}

/**
 * Whether the value of an Authorization field shows a credential of the gateway, in whatever scheme and of whatever
 * worth: a key, a refresh token, the token of a link or a portal session, or a JWT of this issuer. What Basic encodes is
 * looked at as a lenient server decodes it.
 */
export function showsOwnCredential(authorization: string, issuer: string): boolean {
  return shows(authorization, issuer) || shows(decodeBasic(authorization), issuer)
}

function shows(text: string, issuer: string): boolean {
  return ownStart.test(text) || text.split(notInJwt).some((part) => isIssuedBy(part, issuer))
}

function isIssuedBy(text: string, issuer: string): boolean {
  return text.startsWith('eyJ') && payloadOf(text)?.iss === issuer
}

function decodeBasic(authorization: string): string {
  const [scheme] = basicScheme.exec(authorization) ?? []
  return scheme === undefined
    ? ''
    : Buffer.from(authorization.slice(scheme.length), 'base64').toString('latin1')
}
