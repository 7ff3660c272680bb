import { hash } from 'node:crypto'
import {
  accountIdPattern,
  randomText,
  secretLength,
  secretPattern,
  secretPrefixes,
  sessionIdLength,
  sessionIdPattern,
} from './key-format.ts'

// The tokens of links that are sent to the owner of an account, and those of portal sessions.

/**
 * What a link is for. Its fragment is its token: `gsl_<account ID>_<256 bits>` to set a password, `gpr_…` to replace a
 * forgotten one, `gev_…` to verify an e-mail.
 */
type LinkKind = 'setup' | 'reset' | 'email'

const linkPrefixes = {
  setup: secretPrefixes.setupLink,
  reset: secretPrefixes.resetLink,
  email: secretPrefixes.emailLink,
} as const
const linkPattern = new RegExp(`^([a-z]+)_(${accountIdPattern})_${secretPattern}$`)

export interface LinkToken {
  readonly accountId: string
  /** SHA-256 of the whole token, base64url. */
  readonly digest: string
}

export function createLinkToken(kind: LinkKind, accountId: string): LinkToken & { readonly token: string } {
  const token = `${linkPrefixes[kind]}_${accountId}_${randomText(secretLength)}`
  return { token, accountId, digest: tokenDigest(token) }
}

/** undefined if the text is not such a token. */
export function parseLinkToken(kind: LinkKind, text: string): LinkToken | undefined {
  const [, prefix, accountId] = linkPattern.exec(text) ?? []
  if (prefix !== linkPrefixes[kind] || accountId === undefined) return undefined
  return { accountId, digest: tokenDigest(text) }
}

/** The token of a portal session, in its cookie: `gps_<account ID>_<session ID>_<256 bits>`. */
interface PortalToken extends LinkToken {
  readonly sessionId: string
}

const portalPrefix = secretPrefixes.portalSession
const portalPattern = new RegExp(
  `^${portalPrefix}_(${accountIdPattern})_(${sessionIdPattern})_${secretPattern}$`,
)

export function createPortalToken(accountId: string): PortalToken & { readonly token: string } {
  const sessionId = randomText(sessionIdLength)
  const token = `${portalPrefix}_${accountId}_${sessionId}_${randomText(secretLength)}`
  return { token, accountId, sessionId, digest: tokenDigest(token) }
}

/** undefined if the text is not such a token. */
export function parsePortalToken(text: string): PortalToken | undefined {
  const [, accountId, sessionId] = portalPattern.exec(text) ?? []
  if (accountId === undefined || sessionId === undefined) return undefined
  return { accountId, sessionId, digest: tokenDigest(text) }
}

/** The digest under which a token is stored: SHA-256 is enough for a secret of 256 bits. */
function tokenDigest(token: string): string {
  return hash('sha256', token, 'base64url')
}
