import { memoizeBounded } from '#platform/memoize.ts'
import { foldHeaderName } from '#platform/text.ts'
import { tokenCharacters } from './characters.ts'

/** At most 2,048 names of up to 64 characters, longer than any in use: 0.5 MiB at most for each memo. */
export const fieldNameMemo = { entriesMax: 2_048, keyLengthMax: 64 }

/** Marks of the fields with a meaning in every HTTP/1.1 message. Other marks begin at `firstOwnMark`; 0 = no mark. */
export const mark = {
  host: 1,
  contentLength: 2,
  transferEncoding: 3,
  connection: 4,
  expect: 5,
  upgrade: 6,
  keepAlive: 7,
} as const
export const firstOwnMark = 16

/** A field name and its mark. */
export interface MarkedName {
  readonly name: string
  readonly mark: number
  /**
   * Matches every name with the same letters and digits, as servers do that turn names into variables. A name as
   * spelled takes precedence over a folded one; of folded ones, the last that was added.
   */
  readonly isFolded?: boolean
  /** Matches every name that begins with these letters and digits and has no mark of its own. */
  readonly isPrefix?: boolean
}

interface Entry {
  readonly letters: Uint8Array
  /** In lower case; undefined = the mark is for every name with these letters and digits. */
  readonly exact: Uint8Array | undefined
  readonly mark: number
  readonly next: Entry | undefined
}

const bucketCount = 4_096

/**
 * 0 = not a token character (RFC 9110 5.6.2), 1 = neither a letter nor a digit, otherwise the character in lower case.
 */
const foldedCharacters: Uint8Array = Uint8Array.from({ length: 256 }, (_, code) => {
  const character = String.fromCharCode(code)
  if (/[0-9A-Za-z]/.test(character)) return character.toLowerCase().charCodeAt(0)
  return tokenCharacters[code] ?? 0
})

/** The largest prime below the number of buckets. */
const prime = 4_093

/**
 * What a character of a name adds to its hash. A letter or digit adds its fourth power, reduced, which is never 0, and
 * puts no two of the usual names into one bucket. Another character of a token adds the number of buckets, so that the
 * bucket stays the same. What cannot be in a name adds 0. Hot: a branch at every hyphen would be predicted wrongly, and
 * a multiplication would take as long as everything else.
 */
export const hashAddends: Uint16Array = Uint16Array.from(foldedCharacters, (folded) =>
  folded > 1 ? folded ** 4 % prime : folded * bucketCount,
)

/** Finds the marks of field names by a hash that is computed while a name is parsed. */
export class NameTable {
  readonly #buckets: (Entry | undefined)[] = Array.from({ length: bucketCount }, () => undefined)
  /** 1 if a bucket has entries. */
  readonly #isTaken = new Uint8Array(bucketCount)
  readonly #prefix: Uint8Array
  /** 1 for the characters that a name with the prefix may begin with: its first letter, and what is not a letter. */
  readonly #mayBeginPrefix: Uint8Array
  readonly #prefixMark: number

  /** @param names at most one of them is a prefix */
  constructor(names: readonly MarkedName[]) {
    const prefix = names.find(({ isPrefix }) => isPrefix)
    this.#prefix = lettersOf(prefix?.name ?? '')
    const [first] = this.#prefix
    this.#mayBeginPrefix = foldedCharacters.map((folded) =>
      (prefix && folded <= 1) || folded === first ? 1 : 0,
    )
    this.#prefixMark = prefix?.mark ?? 0
    for (const name of names) if (!name.isPrefix) this.#add(name)
  }

  /** Whether a name with this hash, and this first byte, may have a mark. */
  mayHaveMark(hash: number, first: number): boolean {
    return this.#isTaken[hash & (bucketCount - 1)] === 1 || this.#mayBeginPrefix[first] === 1
  }

  /**
   * @param from where the name begins
   * @param to where it ends
   * @param hash of its letters and digits
   * @returns its mark
   */
  markAt(bytes: Uint8Array, from: number, to: number, hash: number): number {
    let folded = 0
    for (let entry = this.#buckets[hash & (bucketCount - 1)]; entry !== undefined; entry = entry.next) {
      const { exact, letters } = entry
      if (exact === undefined) {
        if (lettersRead(bytes, from, to, letters) === letters.length) folded ||= entry.mark
      } else if (isExactly(bytes, from, to, exact)) return entry.mark
    }
    if (folded !== 0) return folded
    return lettersRead(bytes, from, to, this.#prefix) >= this.#prefix.length ? this.#prefixMark : 0
  }

  /** The mark of a name that was not received in the bytes of an HTTP/1.1 head. */
  readonly markOf = memoizeBounded(fieldNameMemo, (name) => {
    const bytes = Buffer.from(name, 'latin1')
    return this.markAt(bytes, 0, bytes.length, hashOf(lettersOf(name)))
  })

  #add({ name, mark: found, isFolded = false }: MarkedName): void {
    const letters = lettersOf(name)
    const place = hashOf(letters) & (bucketCount - 1)
    const exact = isFolded ? undefined : Buffer.from(name.toLowerCase(), 'latin1')
    this.#isTaken[place] = 1
    this.#buckets[place] = { letters, exact, mark: found, next: this.#buckets[place] }
  }
}

/** The fields with a meaning in every HTTP/1.1 message. */
export const framingNames: readonly MarkedName[] = [
  { name: 'host', mark: mark.host },
  { name: 'content-length', mark: mark.contentLength },
  { name: 'transfer-encoding', mark: mark.transferEncoding },
  { name: 'connection', mark: mark.connection },
  { name: 'expect', mark: mark.expect },
  { name: 'upgrade', mark: mark.upgrade },
  { name: 'keep-alive', mark: mark.keepAlive },
]

/** For a listener that forwards nothing. */
export const framingTable: NameTable = new NameTable(framingNames)

function lettersOf(name: string): Uint8Array {
  return Buffer.from(foldHeaderName(name), 'latin1')
}

function hashOf(letters: Uint8Array): number {
  let hash = 0
  for (const letter of letters) hash += hashAddends[letter] ?? 0
  return hash
}

/**
 * The number of letters and digits in a name that begins with the given ones, capped at one more than these; -1 if it
 * does not begin with them.
 */
function lettersRead(bytes: Uint8Array, from: number, to: number, letters: Uint8Array): number {
  let count = 0
  for (let at = from; at < to; at++) {
    const folded = foldedCharacters[bytes[at] ?? 0] ?? 0
    if (folded <= 1) continue
    if (count === letters.length) return count + 1
    if (folded !== letters[count]) return -1
    count++
  }
  return count
}

const lowerCase = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte,
)

function isExactly(bytes: Uint8Array, from: number, to: number, lower: Uint8Array): boolean {
  if (to - from !== lower.length) return false
  for (let at = from; at < to; at++) if (lowerCase[bytes[at] ?? 0] !== lower[at - from]) return false
  return true
}
