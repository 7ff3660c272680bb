/** A secret that a text may repeat, and what is shown in its place. */
export interface KnownSecret {
  readonly text: string
  readonly placeholder: string
}

/** How often escapes are decoded, one within another. */
const decodingsMax = 3
/** The longest spelling of a character, such as `&#x0067;`. */
const spellingLengthMax = 8

/** As URLs, JSON, programs, HTML and mails write a character. */
const escapes =
  /%([0-9a-f]{2})|\\u([0-9a-f]{4})|\\x([0-9a-f]{2})|&#x([0-9a-f]{1,6});|=([0-9a-f]{2})|&#([0-9]{1,7});|\\([nrt/"\\])|=\r?\n/gi

/** How many characters at the end of a text that was cut may be part of a secret. */
export function longestSpelling(secrets: readonly KnownSecret[]): number {
  return spellingLengthMax * Math.max(0, ...secrets.map(({ text }) => text.length))
}

/**
 * Hides secrets wherever a text repeats them: as they are, in other case, in base64 at any place of what was encoded,
 * in hex, with escapes, and with line breaks within. A text that has to be decoded for that is returned decoded.
 */
export function hideKnownSecrets(text: string, secrets: readonly KnownSecret[]): string {
  const hidden = secrets.map(({ text: secret, placeholder }) => ({ pattern: patternOf(secret), placeholder }))
  const hide = (shown: string) =>
    hidden.reduce((rest, { pattern, placeholder }) => rest.replace(pattern, () => placeholder), shown)
  let shown = hide(text)
  let decoded = text
  for (let turn = 0; turn < decodingsMax; turn++) {
    const next = decode(decoded)
    if (next === decoded) break
    decoded = next
    const withoutSecrets = hide(decoded)
    if (withoutSecrets !== decoded) shown = withoutSecrets
  }
  return shown
}

function decode(text: string): string {
  return text.replace(escapes, (written, ...groups: readonly (string | undefined)[]) => {
    const [percent, unicode, x, htmlHex, printable, htmlDecimal, letter] = groups
    if (written.startsWith('=') && printable === undefined) return ''
    if (letter !== undefined) return { n: '\n', r: '\r', t: '\t' }[letter.toLowerCase()] ?? letter
    const hex = percent ?? unicode ?? x ?? htmlHex ?? printable
    const code = hex === undefined ? Number(htmlDecimal) : Number.parseInt(hex, 16)
    return code <= 0x10_ffff ? String.fromCodePoint(code) : written
  })
}

/** Matches a secret in time proportional to the text: what may stand between its characters is none of them. */
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
 * The characters of base64 that only the secret decides, where so many bytes of a group of three stand before it: of
 * those at both ends four bits or fewer are not its own.
 */
function base64Of(bytes: Uint8Array, before: number): string {
  const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
  const [first, end] = [Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6)]
  return encoded.slice(first, end)
}

/** In both alphabets of base64 (RFC 4648). */
function characterPattern(character: string): string {
  if (character === '+' || character === '-') return '[+-]'
  if (character === '/' || character === '_') return '[/_]'
  return /\w/.test(character) ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
