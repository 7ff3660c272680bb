import { randomText } from '../platform/random.ts'
import {
  accountIdPattern,
  secretLength,
  secretPattern,
  secretPrefixes,
  sessionIdLength,
  sessionIdPattern,
} from './format.ts'
import { tokenDigest } from './link-token.ts'

/** The token of a portal session, in its cookie: `gps_<account ID>_<session ID>_<256 bits>`. */
export interface PortalToken {
  readonly accountId: string
  readonly sessionId: string
  /** SHA-256 of the whole token, base64url. */
  readonly digest: string
}

const prefix = secretPrefixes.portalSession
const tokenPattern = new RegExp(`^${prefix}_(${accountIdPattern})_(${sessionIdPattern})_${secretPattern}$`)

export function createPortalToken(accountId: string): PortalToken & { readonly token: string } {
  const sessionId = randomText(sessionIdLength)
  const token = `${prefix}_${accountId}_${sessionId}_${randomText(secretLength)}`
  return { token, accountId, sessionId, digest: tokenDigest(token) }
}

/** undefined where the text is not such a token. */
export function parsePortalToken(text: string): PortalToken | undefined {
  const [, accountId, sessionId] = tokenPattern.exec(text) ?? []
  if (accountId === undefined || sessionId === undefined) return undefined
  return { accountId, sessionId, digest: tokenDigest(text) }
}
