import type { Account } from '../store/store.ts'
import { commonWords, keyRows } from './common-words.ts'

/** Who a password is for, as far as it may be made of it. */
export type PasswordOwner = Pick<Account, 'email' | 'firstName' | 'lastName'>

/** Of a walk along a row of keys: two are in many a word; and the longest that is looked for as one. */
const walkLength = { min: 3, max: 48 } as const
/** How many characters may come after the last walk. */
const strayMax = 2
/** Of what is said again and again. */
const chunkLengthMax = 4
/** Of a name: shorter ones are in many a word. */
const nameLengthMin = 3
/** How much there must be beside one's own names. */
const ownLengthMin = 8

/**
 * Whether it is one that is tried first: a common word with digits and signs around it, a walk over the
 * keyboard, the same few characters again and again (NIST SP 800-63B 3.1.1.2).
 */
export function isCommonPassword(password: string): boolean {
  const text = fold(password)
  const core = text.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '')
  // A sign at the end may stand for a letter, as in pa$$.
  const spelled = spell(text).replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '')
  const unit = unitOf(text)
  if (unit.length <= chunkLengthMax) return true
  if (
    [unit, core, unitOf(core), spell(core), unitOf(spell(core)), spelled].some((word) =>
      commonWords.has(word),
    )
  )
    return true
  return isWalk(text)
}

/** Whether there is little in it but the e-mail and the names of whoever it is for. */
export function isMadeOfOwner(password: string, { email, firstName, lastName }: PasswordOwner): boolean {
  const [local = '', domain = ''] = fold(email).split('@')
  const names = [
    fold(email),
    local,
    domain,
    ...local.split(/[^\p{L}\p{N}]+/u),
    ...fold(`${firstName} ${lastName}`).split(/\s+/),
  ]
  const own = names.filter((name) => name.length >= nameLengthMin).toSorted((a, b) => b.length - a.length)
  const rest = own.reduce((text, name) => text.replaceAll(name, ' '), fold(password))
  const isTouched = rest !== fold(password)
  return isTouched && [...rest.replace(/[\s\p{P}]/gu, '')].length < ownLengthMin
}

function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase()
}

const letters: Readonly<Record<string, string>> = {
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

/** With the letters that signs and digits stand for. */
function spell(text: string): string {
  return text.replaceAll(/[@43!10$57]/g, (sign) => letters[sign] ?? sign)
}

/** What is said again and again; where nothing is, the whole. */
function unitOf(text: string): string {
  const end = (text + text).indexOf(text, 1)
  return end > 0 ? text.slice(0, end) : text
}

const rows = keyRows.flatMap((row) => [row, [...row].reverse().join('')])

/** Whether nearly all of it goes along rows of keys, forth or back, at least three keys at a time. */
function isWalk(text: string): boolean {
  const reachable = new Set([0])
  for (let start = 0; start < text.length; start++) {
    if (!reachable.has(start)) continue
    const endMax = Math.min(text.length, start + walkLength.max)
    for (let end = start + walkLength.min; end <= endMax; end++) {
      const part = text.slice(start, end)
      if (unitOf(part).length > 1 && !rows.some((row) => row.includes(part))) break
      reachable.add(end)
    }
  }
  return Math.max(...reachable) >= text.length - strayMax
}
