import { tokenDigest } from '../accounts/link-token.ts'
import { randomText } from '../random.ts'

/** The token of a portal session, in its cookie: `gps_<account ID>_<session ID>_<256 bits>`. */
export interface PortalToken {
  readonly accountId: string
  readonly sessionId: string
  /** SHA-256 of the whole token, base64url. */
  readonly digest: string
}

const sessionIdLength = 20
const secretLength = 43
const tokenPattern = new RegExp(
  `^gps_([0-9A-Za-z]{16})_([0-9A-Za-z]{${sessionIdLength}})_[0-9A-Za-z]{${secretLength}}$`,
)

export function createPortalToken(accountId: string): PortalToken & { readonly token: string } {
  const sessionId = randomText(sessionIdLength)
  const token = `gps_${accountId}_${sessionId}_${randomText(secretLength)}`
  return { token, accountId, sessionId, digest: tokenDigest(token) }
}

/** undefined where the text is no such token. */
export function parsePortalToken(text: string): PortalToken | undefined {
  const [, accountId, sessionId] = tokenPattern.exec(text) ?? []
  if (accountId === undefined || sessionId === undefined) return undefined
  return { accountId, sessionId, digest: tokenDigest(text) }
}
