import { hash } from 'node:crypto'
import { randomText } from '../platform/random.ts'
import { accountIdPattern, secretLength, secretPattern, secretPrefixes } from './format.ts'

/** The token in a link's fragment: `gsl_<account ID>_<256 bits>` to set a password, `gev_…` to verify an e-mail. */
export type LinkKind = 'setup' | 'email'

const linkPrefixes = { setup: secretPrefixes.setupLink, email: secretPrefixes.emailLink } as const
const tokenPattern = new RegExp(`^([a-z]+)_(${accountIdPattern})_${secretPattern}$`)

export interface LinkToken {
  readonly accountId: string
  /** SHA-256 of the whole token, base64url. */
  readonly digest: string
}

export function createLinkToken(kind: LinkKind, accountId: string): LinkToken & { readonly token: string } {
  const token = `${linkPrefixes[kind]}_${accountId}_${randomText(secretLength)}`
  return { token, accountId, digest: tokenDigest(token) }
}

/** undefined where the text is not such a token. */
export function parseLinkToken(kind: LinkKind, text: string): LinkToken | undefined {
  const [, prefix, accountId] = tokenPattern.exec(text) ?? []
  if (prefix !== linkPrefixes[kind] || accountId === undefined) return undefined
  return { accountId, digest: tokenDigest(text) }
}

/** The digest that is stored of a token: SHA-256 is enough for a secret of 256 bits. */
export function tokenDigest(token: string): string {
  return hash('sha256', token, 'base64url')
}
