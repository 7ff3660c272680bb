import { accountIdPattern, secretPrefixes } from './format.ts'

/** What is shown in place of a secret. */
export const secretPlaceholder = '[secret]'

/**
 * The prefixes of the gateway's credentials. A path of a backend may well start with `gps_`, so for a portal session
 * the pattern includes the account ID.
 */
const ownPrefixPattern = Object.entries(secretPrefixes)
  .map(([kind, prefix]) =>
    kind === 'portalSession' ? `${inAnyCase(prefix)}_${accountIdPattern}_` : `${inAnyCase(prefix)}_`,
  )
  .join('|')
/** The same, or the start of any JWT. */
export const secretStartPattern = new RegExp(`${ownPrefixPattern}|eyJ`)
const secrets = new RegExp(`(?:${ownPrefixPattern})[0-9A-Za-z_~.-]+|eyJ[0-9A-Za-z_-]+\\.[0-9A-Za-z_.-]+`, 'g')
/** How often escapes are decoded: double encoding comes from mistakes, not from hiding. */
const decodingsMax = 3

/**
 * Systems that ignore case may have changed it, and most of a key can be guessed then. A JWT never starts with `eyj`.
 */
function inAnyCase(letters: string): string {
  return Array.from(letters, (letter) => `[${letter.toUpperCase()}${letter}]`).join('')
}

/**
 * Hides the gateway's keys and tokens anywhere in a text, also percent-encoded; a text without any is left as it is.
 */
export function hideSecrets(text: string): string {
  const decoded = text.includes('%') ? decode(text) : text
  const withoutSecrets = decoded.replaceAll(secrets, secretPlaceholder)
  return withoutSecrets === decoded ? text : withoutSecrets
}

function decode(text: string): string {
  let decoded = text
  for (let turn = 0; turn < decodingsMax && decoded.includes('%'); turn++) {
    decoded = decoded.replaceAll(/%([2-7][0-9a-f])/gi, (_escape, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    )
  }
  return decoded
}
