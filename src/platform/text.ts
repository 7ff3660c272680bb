import { english } from './languages.ts'

/**
 * A copy of a text to keep: a slice of a head would keep the whole head in memory, with the credentials in it. Any text
 * is allowed, as e-mail addresses and names, unlike heads, need not be Latin-1.
 */
export function copyString(text: string): string {
  const copy = Buffer.from(text, 'latin1').toString('latin1')
  return copy === text ? copy : Buffer.from(text, 'utf16le').toString('utf16le')
}

/** A text of several pieces, joined by V8: it reads a number in one piece. Otherwise each use joins them anew. */
export function inOnePiece(text: string): string {
  Number(text)
  return text
}

export function base64url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url')
}

/** A text without characters that could break a line, recolour a terminal, move its cursor or reverse its text. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, unicodeEscape)
}

/** Such as `\u001b`. */
export function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** By bytes, as SQLite and Redis order texts, so that lists have the same order in every store. */
export function compareTexts(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other))
}

/** Such as `1 account`, `3 accounts`. @param many default: `one` with an s */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

/** What is new in a list, and what is no longer in it. */
export function listChange(before: readonly string[], after: readonly string[]) {
  return {
    added: after.filter((text) => !before.includes(text)),
    removed: before.filter((text) => !after.includes(text)),
  }
}

/** `a`, `a or b`, `a, b or c`; empty if there are none. */
export function listText(texts: readonly string[], { or } = english): string {
  const last = texts.at(-1) ?? ''
  return texts.length < 2 ? last : `${texts.slice(0, -1).join(', ')} ${or} ${last}`
}

/** A text as a single word of a POSIX shell: quoted if the shell would interpret it. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/**
 * The candidate that a misspelt word most likely means: at most a third of its letters may differ, counting insertions,
 * deletions, changes and swapped neighbours; undefined if no candidate is that close.
 */
export function suggest(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = word.toLowerCase()
  let best: string | undefined
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1
  for (const candidate of candidates) {
    // At least that many changes are needed. Skipped, as a word may be as long as the file.
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue
    const distance = editDistance(wanted, candidate.toLowerCase())
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance]
  }
  return best
}

/** `, did you mean "routes"?`, or nothing. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const candidate = suggest(word, candidates)
  return candidate === undefined ? '' : `, did you mean "${candidate}"?`
}

function editDistance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, column) => column)]
  const at = (row: number, column: number) => rows[row]?.[column] ?? 0
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    rows.push(current)
    for (let column = 1; column <= b.length; column++) {
      const change = a[row - 1] === b[column - 1] ? 0 : 1
      const isSwap = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      current[column] = Math.min(
        at(row - 1, column) + 1,
        at(row, column - 1) + 1,
        at(row - 1, column - 1) + change,
        isSwap ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
      )
    }
  }
  return at(a.length, b.length)
}

/** The text with its escapes (`%2e`) decoded, each byte to one character. */
export function decodeBytes(text: string): string {
  return text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
}

/**
 * A header name reduced to lower-case letters and digits. Servers that turn names into variables read `X_User_Id` and
 * `x.user.id` as X-User-Id: names that are equal here may be the same field to a backend.
 */
export function foldHeaderName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
}
