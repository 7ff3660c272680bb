import { accountIdPattern, defaultKeyPrefix, keyMarks, oldKeyPrefixes, secretPrefixes } from './format.ts'

/** What is shown in place of a secret. */
export const secretPlaceholder = '[secret]'

/** Prefixes after which any text is taken for a secret, a part of a key too. */
const knownKeyPrefixes = [
  ...Object.values(oldKeyPrefixes),
  ...Object.values(keyMarks).map((mark) => `${defaultKeyPrefix}_${mark}`),
]
/**
 * A key with another prefix, which stays visible: a pattern that begins with a name of any letters takes 20 times as
 * long. The handle, mistyped or not, tells it from a name such as `page_sk_SK`.
 */
const otherKeyPattern = '_[sSaA][kK]_[0-9A-Za-z]{12,20}_'
/**
 * The start of any credential of the gateway. A path of a backend may well start with `gps_`, so for a portal session
 * the pattern includes the account ID.
 */
const ownStartPattern = [
  ...knownKeyPrefixes.map((prefix) => `${inAnyCase(prefix)}_`),
  otherKeyPattern,
  ...Object.entries(secretPrefixes).map(([kind, prefix]) =>
    kind === 'portalSession' ? `${inAnyCase(prefix)}_${accountIdPattern}_` : `${inAnyCase(prefix)}_`,
  ),
].join('|')
/** The same, or the start of any JWT. */
export const secretStartPattern = new RegExp(`${ownStartPattern}|eyJ`)
const ownStart = new RegExp(ownStartPattern)
/** All characters that a credential has: it is longer than its prefix, of at least four. */
const runs = /[0-9A-Za-z_~.-]{5,}/g
/**
 * A JWT, or just what begins as one: without a point it is none. The pattern takes it in all the same, or each `eyJ` of
 * many would be read to its end again.
 */
const jwtStarts = /eyJ(?:[0-9A-Za-z_-]+(?:\.[0-9A-Za-z_.-]+)?)?/g
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
  if (!secretStartPattern.test(decoded)) return text
  const withoutSecrets = decoded
    .replaceAll(jwtStarts, (found) => (found.includes('.') ? secretPlaceholder : found))
    .replaceAll(runs, hideOwnSecret)
  return withoutSecrets === decoded ? text : withoutSecrets
}

/** From the start of a credential, if anything follows that, to the end of the run. */
function hideOwnSecret(run: string): string {
  const start = ownStart.exec(run)
  return start === null || start.index + start[0].length === run.length
    ? run
    : run.slice(0, start.index) + secretPlaceholder
}

function decode(text: string): string {
  let decoded = text
  for (let turn = 0; turn < decodingsMax && asciiEscape.test(decoded); turn++) decoded = decodeOnce(decoded)
  return decoded
}

/** Decodes escapes of ASCII. Not by a replacement: a call for each of thousands takes several times as long. */
function decodeOnce(text: string): string {
  let decoded = ''
  let end = 0
  for (let mark = text.indexOf('%'); mark !== -1; mark = text.indexOf('%', Math.max(end, mark + 1))) {
    const high = hexValue(text, mark + 1)
    const low = hexValue(text, mark + 2)
    if (high < 2 || high > 7 || low === -1) continue
    decoded += text.slice(end, mark) + String.fromCharCode(16 * high + low)
    end = mark + 3
  }
  return decoded + text.slice(end)
}

const asciiEscape = /%[2-7][0-9a-f]/i
const hexValues = Int8Array.from({ length: 128 }, (_, code) =>
  '0123456789abcdef'.indexOf(String.fromCharCode(code).toLowerCase()),
)

/** The value of a hexadecimal digit; -1 = it is none. */
function hexValue(text: string, index: number): number {
  return hexValues[text.charCodeAt(index)] ?? -1
}
