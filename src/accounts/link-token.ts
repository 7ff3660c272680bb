import { hash } from 'node:crypto'
import { randomText } from '../random.ts'

/** What a link carries in its fragment: `gsl_<account ID>_<256 bits>` to set a password, `gev_…` for an e-mail. */
export type LinkKind = 'setup' | 'email'

const prefixes = { setup: 'gsl', email: 'gev' } as const
const secretLength = 43
const tokenPattern = new RegExp(`^(gsl|gev)_([0-9A-Za-z]{16})_[0-9A-Za-z]{${secretLength}}$`)

export interface LinkToken {
  readonly accountId: string
  /** SHA-256 of the whole token, base64url. */
  readonly digest: string
}

export function createLinkToken(kind: LinkKind, accountId: string): LinkToken & { readonly token: string } {
  const token = `${prefixes[kind]}_${accountId}_${randomText(secretLength)}`
  return { token, accountId, digest: tokenDigest(token) }
}

/** undefined where the text is no such token. */
export function parseLinkToken(kind: LinkKind, text: string): LinkToken | undefined {
  const [, prefix, accountId] = tokenPattern.exec(text) ?? []
  if (prefix !== prefixes[kind] || accountId === undefined) return undefined
  return { accountId, digest: tokenDigest(text) }
}

/** What is kept of a token: enough for a secret of 256 bits. */
export function tokenDigest(token: string): string {
  return hash('sha256', token, 'base64url')
}
