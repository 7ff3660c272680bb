import { commonWords, keyboardRows } from './common-words.ts'

/** Personal data that a password must not consist of. */
export interface PasswordOwner {
  readonly email: string
  readonly firstName: string
  readonly lastName: string
}

/**
 * Length of a keyboard walk: many words contain two neighbouring keys. The maximum is the longest walk searched for.
 */
const walkLength = { min: 3, max: 48 } as const
/** How many characters may come after the last walk. */
const trailingCharactersMax = 2
/** The longest unit whose repetition counts as a common password. */
const repeatedUnitLengthMax = 4
/** The shortest name searched for: many words contain shorter ones. */
const nameLengthMin = 3
/** How many characters there must be besides the owner's names. */
const remainderLengthMin = 8

/**
 * Whether a password is one of those tried first: a common word with digits and symbols around it, a keyboard walk,
 * the same few characters repeated (NIST SP 800-63B 3.1.1.2).
 */
export function isCommonPassword(password: string): boolean {
  const text = normalizeText(password)
  const core = fromFirstToLastLetter(text)
  // A symbol at the end may stand for a letter, as in pa$$.
  const spelled = fromFirstToLastLetter(replaceLeet(text))
  const unit = unitOf(text)
  if (unit.length <= repeatedUnitLengthMax) return true
  if (
    [unit, core, unitOf(core), replaceLeet(core), unitOf(replaceLeet(core)), spelled].some((word) =>
      commonWords.has(word),
    )
  )
    return true
  return isKeyboardWalk(text)
}

function fromFirstToLastLetter(text: string): string {
  return text.replace(/^[^\p{L}]+|(?<=\p{L})[^\p{L}]+$/gu, '')
}

/** Whether a password consists mostly of its owner's e-mail and names. */
export function isMostlyPersonalData(
  password: string,
  { email, firstName, lastName }: PasswordOwner,
): boolean {
  const [local = '', domain = ''] = normalizeText(email).split('@')
  const names = [
    normalizeText(email),
    local,
    domain,
    ...local.split(/[^\p{L}\p{N}]+/u),
    ...normalizeText(`${firstName} ${lastName}`).split(/\s+/),
  ]
  const own = names.filter((name) => name.length >= nameLengthMin).toSorted((a, b) => b.length - a.length)
  const rest = own.reduce((text, name) => text.replaceAll(name, ' '), normalizeText(password))
  const isTouched = rest !== normalizeText(password)
  return isTouched && [...rest.replace(/[\s\p{P}]/gu, '')].length < remainderLengthMin
}

function normalizeText(text: string): string {
  return text.normalize('NFKC').toLowerCase()
}

const leetLetters: Readonly<Record<string, string>> = {
  '@': 'a',
  '4': 'a',
  '3': 'e',
  '1': 'i',
  '!': 'i',
  '0': 'o',
  $: 's',
  '5': 's',
  '7': 't',
}

/** The text with letters in place of the symbols and digits that stand for them. */
function replaceLeet(text: string): string {
  return text.replaceAll(/[@43!10$57]/g, (sign) => leetLetters[sign] ?? sign)
}

/** The unit that the text repeats, or the whole text. */
function unitOf(text: string): string {
  const end = (text + text).indexOf(text, 1)
  return end > 0 ? text.slice(0, end) : text
}

const rows = keyboardRows.flatMap((row) => [row, [...row].reverse().join('')])

/** Whether nearly all of the text runs along rows of keys, in either direction, at least three keys at a time. */
function isKeyboardWalk(text: string): boolean {
  const reachable = new Set([0])
  let last = 0
  for (let start = 0; start < text.length; start++) {
    if (!reachable.has(start)) continue
    // Each part of a walk from its start is one too.
    const end = start + Math.max(sameLength(text, start), rowLength(text, start))
    for (let at = start + walkLength.min; at <= end; at++) reachable.add(at)
    if (end >= start + walkLength.min) last = Math.max(last, end)
  }
  return last >= text.length - trailingCharactersMax
}

/** How often the character at an index comes in a row. */
function sameLength(text: string, start: number): number {
  let end = start + 1
  while (end < text.length && end - start < walkLength.max && text[end] === text[start]) end++
  return end - start
}

/** How far the text at an index runs along a row of keys. */
function rowLength(text: string, start: number): number {
  let end = start
  while (end < text.length && rows.some((row) => row.includes(text.slice(start, end + 1)))) end++
  return end - start
}
