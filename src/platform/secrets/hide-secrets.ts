import { unicodeEscape } from '../text.ts'
import { accountIdPattern, defaultKeyPrefix, keyMarks, oldKeyPrefixes, secretPrefixes } from './key-format.ts'

/** Shown in place of a secret. */
export const secretPlaceholder = '[secret]'

/** Prefixes after which any text is treated as a secret, even a part of a key. */
const knownKeyPrefixes = [
  ...Object.values(oldKeyPrefixes),
  ...Object.values(keyMarks).map((mark) => `${defaultKeyPrefix}_${mark}`),
]
/**
 * A key with another prefix. The prefix itself stays visible, as a pattern that begins with any name would take 20
 * times as long. The handle, mistyped or not, distinguishes the key from a name such as `page_sk_SK`.
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
/** The start of any credential of the gateway, or of any JWT. */
export const secretStartPattern = new RegExp(`${ownStartPattern}|eyJ`)
const ownStart = new RegExp(ownStartPattern)
/** A run of the characters of credentials, longer than the shortest prefix. */
const runs = /[0-9A-Za-z_~.-]{5,}/g
/**
 * A JWT, or a text that only begins like one: without a dot it is not a JWT. The pattern matches that too: otherwise, a
 * text with many `eyJ` would be read to its end again for each of them.
 */
const jwtStarts = /eyJ(?:[0-9A-Za-z_-]+(?:\.[0-9A-Za-z_.-]+)?)?/g
/** How many levels of escapes are decoded: double encoding comes from mistakes, not from hiding. */
const decodingsMax = 3

/**
 * Matches in any case: a system that ignores case may have changed it, and most of a key could be guessed from what is
 * left. A JWT never starts with `eyj`.
 */
function inAnyCase(letters: string): string {
  return Array.from(letters, (letter) => `[${letter.toUpperCase()}${letter}]`).join('')
}

/** Hides the gateway's keys and tokens anywhere in a text, even percent-encoded; other texts are returned unchanged. */
export function hideSecrets(text: string): string {
  const decoded = text.includes('%') ? decodePercent(text) : text
  if (!secretStartPattern.test(decoded)) return text
  const withoutSecrets = decoded
    .replaceAll(jwtStarts, (found) => (found.includes('.') ? secretPlaceholder : found))
    .replaceAll(runs, hideOwnSecret)
  return withoutSecrets === decoded ? text : withoutSecrets
}

/** Hides a run from the start of a credential to its end, if anything follows the start. */
function hideOwnSecret(run: string): string {
  const start = ownStart.exec(run)
  return start === null || start.index + start[0].length === run.length
    ? run
    : run.slice(0, start.index) + secretPlaceholder
}

function decodePercent(text: string): string {
  let decoded = text
  for (let turn = 0; turn < decodingsMax && asciiEscape.test(decoded); turn++) decoded = decodeOnce(decoded)
  return decoded
}

/** Decodes escapes of ASCII, in a loop, as a callback for each of thousands takes several times as long. */
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

/** The value of a hexadecimal digit; -1 = not a digit. */
function hexValue(text: string, index: number): number {
  return hexValues[text.charCodeAt(index)] ?? -1
}

/** Matches the name of a header whose value is, or may be, a secret. `X-Author` names a person. */
const credentialName =
  /auth(?!ors?(?![a-z]))|cookie|secret|token|passw|api[-_]?key|[-_]key$|credential|signature|assertion/i
/** Matches a scheme of `Authorization` (RFC 9110 11.4), or a URL with user information (RFC 3986 3.2.1). */
const credentialValue = /^(?:bearer|basic|digest|token|apikey|negotiate|ntlm)[ \t]|:\/\/[^/?#@]+@/i

/** Whether a header is likely to hold a credential, by its name or value, and so must not be shown. */
export function isCredentialField(name: string, value: string): boolean {
  return credentialName.test(name) || credentialValue.test(value) || hideSecrets(value) !== value
}

/** A secret that a text may repeat, and what is shown in its place. */
export interface KnownSecret {
  readonly text: string
  readonly placeholder: string
}

/** The longest spelling of a character, such as `&#x0067;`. */
const spellingLengthMax = 8

/** How URLs, JSON, programs, HTML and mails escape a character. */
const escapes =
  /%([0-9a-f]{2})|\\u([0-9a-f]{4})|\\x([0-9a-f]{2})|&#x([0-9a-f]{1,6});|=([0-9a-f]{2})|&#([0-9]{1,7});|\\([nrt/"\\])|=\r?\n/gi

/** How many characters at the end of a truncated text may be part of a secret. */
export function longestSpelling(secrets: readonly KnownSecret[]): number {
  return spellingLengthMax * Math.max(0, ...secrets.map(({ text }) => text.length))
}

/**
 * Hides secrets wherever a text repeats them: verbatim, in another case, in base64 at any offset, in hex, with escapes,
 * and with line breaks within. A text that has to be decoded for that is returned decoded.
 */
export function hideKnownSecrets(text: string, secrets: readonly KnownSecret[]): string {
  const hidden = secrets.map(({ text: secret, placeholder }) => ({ pattern: patternOf(secret), placeholder }))
  const hide = (shown: string) =>
    hidden.reduce((rest, { pattern, placeholder }) => rest.replace(pattern, () => placeholder), shown)
  let shown = hide(text)
  let decoded = text
  for (let turn = 0; turn < decodingsMax; turn++) {
    const next = decodeAny(decoded)
    if (next === decoded) break
    decoded = next
    const withoutSecrets = hide(decoded)
    if (withoutSecrets !== decoded) shown = withoutSecrets
  }
  return shown
}

function decodeAny(text: string): string {
  return text.replace(escapes, (written, ...groups: readonly (string | undefined)[]) => {
    const [percent, unicode, x, htmlHex, printable, htmlDecimal, letter] = groups
    if (written.startsWith('=') && printable === undefined) return ''
    if (letter !== undefined) return { n: '\n', r: '\r', t: '\t' }[letter.toLowerCase()] ?? letter
    const hex = percent ?? unicode ?? x ?? htmlHex ?? printable
    const code = hex === undefined ? Number(htmlDecimal) : Number.parseInt(hex, 16)
    return code <= 0x10_ffff ? String.fromCodePoint(code) : written
  })
}

/** Matches a secret in linear time, as what may stand between its characters cannot be one of them. */
function patternOf(secret: string): RegExp {
  const bytes = Buffer.from(secret)
  const spellings = [secret, bytes.toString('hex'), ...[0, 1, 2].map((before) => base64Of(bytes, before))]
  const between = '[\\s\\0]*'
  return new RegExp(
    spellings.map((spelling) => Array.from(spelling, characterPattern).join(between)).join('|'),
    'gi',
  )
}

/**
 * The base64 characters that the secret alone determines, given the number of bytes before it in a group of three: at
 * both ends, characters that share bits with other bytes are left out.
 */
function base64Of(bytes: Uint8Array, before: number): string {
  const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
  const [first, end] = [Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6)]
  return encoded.slice(first, end)
}

/** Matches both alphabets of base64 (RFC 4648). */
function characterPattern(character: string): string {
  if (character === '+' || character === '-') return '[+-]'
  if (character === '/' || character === '_') return '[/_]'
  return /\w/.test(character) ? character : unicodeEscape(character)
}
