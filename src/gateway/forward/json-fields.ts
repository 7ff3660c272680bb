/** A member of JSON objects on the way to a field that is looked for. */
export interface FieldNode {
  readonly members: Map<string, FieldNode>
  /** The lengths of their names; names of other lengths are not compared. */
  readonly lengths: Set<number>
  /** The number of the field that ends here. */
  field: number | undefined
}

/**
 * The tree of the paths of several fields.
 * @param fields for each, its dotted paths, such as `usage.total_tokens`
 */
export function fieldTree(fields: readonly (readonly string[])[]): FieldNode {
  const newNode = (): FieldNode => ({ members: new Map(), lengths: new Set(), field: undefined })
  const root = newNode()
  for (const [field, paths] of fields.entries())
    for (const path of paths) {
      let node = root
      for (const name of path.split('.')) {
        const next = node.members.get(name) ?? newNode()
        node.members.set(name, next)
        node.lengths.add(name.length)
        node = next
      }
      node.field = field
    }
  return root
}

export const quote = 0x22
export const backslash = 0x5c
export const comma = 0x2c
export const colon = 0x3a
export const objectStart = 0x7b
export const objectEnd = 0x7d
export const arrayStart = 0x5b
export const arrayEnd = 0x5d

const mode = {
  /** Between documents. */
  top: 0,
  /** In an object that may have fields, before a name. */
  object: 1,
  name: 2,
  value: 3,
  text: 4,
  number: 5,
  /** In an object or array without fields. */
  skipped: 6,
} as const

/** The longest name that a path can have (64 characters, each an escape of six bytes); longer numbers do not count. */
const tokenBytesMax = 512

/**
 * Finds numbers by their paths in JSON that arrives in parts, and keeps nothing else: the names on the way to the
 * place that has been reached, and one name or number of at most 512 bytes. Texts are skipped whatever they contain.
 * Each of several documents, in a row or in one array, is read; broken JSON has no fields after the error.
 */
export class JsonFieldScanner {
  readonly #root: FieldNode
  readonly #onNumber: (field: number, value: number) => void
  #mode: number = mode.top
  /** The objects around the current place, all of them on the way to a field. */
  readonly #open: FieldNode[] = []
  #member: FieldNode | undefined
  #skippedDepth = 0
  /** What follows a text. */
  #afterText: number = mode.top
  #isEscaped = false
  #hasEscape = false
  #token = ''

  /** @param onNumber called for each field whose value is a number, in order */
  constructor(root: FieldNode, onNumber: (field: number, value: number) => void) {
    this.#root = root
    this.#onNumber = onNumber
  }

  /** Another document begins, whatever came before. */
  reset(): void {
    this.#mode = mode.top
    this.#open.length = 0
    this.#isEscaped = false
  }

  read(bytes: Uint8Array, start: number, end: number): void {
    let index = start
    while (index < end) {
      if (this.#mode === mode.text) index = this.#readText(bytes, index, end)
      else if (this.#mode === mode.skipped) index = this.#readSkipped(bytes, index, end)
      else if (this.#mode === mode.name) index = this.#readName(bytes, index, end)
      else if (this.#mode === mode.number) index = this.#readNumber(bytes, index, end)
      else this.#readOutsideText(bytes[index++] ?? 0)
    }
  }

  /** @returns the index after the string */
  #readText(bytes: Uint8Array, start: number, end: number): number {
    const textEnd = this.#endOfText(bytes, start, end)
    if (textEnd < end) this.#mode = this.#afterText
    return textEnd + 1
  }

  /** A separate loop, as most bytes of a body belong to strings (hot). @returns the index of the quote; `end` = none */
  #endOfText(bytes: Uint8Array, start: number, end: number): number {
    let isEscaped = this.#isEscaped
    let index = start
    for (; index < end; index++) {
      const byte = bytes[index]
      if (isEscaped) isEscaped = false
      else if (byte === backslash) {
        isEscaped = true
        this.#hasEscape = true
      } else if (byte === quote) break
    }
    this.#isEscaped = isEscaped
    return index
  }

  #readOutsideText(byte: number): void {
    switch (this.#mode) {
      case mode.value:
        this.#readValue(byte)
        break
      case mode.object:
        this.#readObject(byte)
        break
      default:
        if (byte === objectStart) this.#enter(this.#root)
        else if (byte === quote) this.#skipText(mode.top)
    }
  }

  /** @returns where another mode begins */
  #readSkipped(bytes: Uint8Array, start: number, end: number): number {
    let index = start
    while (index < end) {
      const byte = bytes[index++]
      if (byte === objectStart || byte === arrayStart) this.#skippedDepth++
      else if (byte === objectEnd || byte === arrayEnd) {
        if (--this.#skippedDepth > 0) continue
        this.#mode = mode.object
        break
      } else if (byte === quote) {
        this.#skipText(mode.skipped)
        break
      }
    }
    return index
  }

  #readObject(byte: number): void {
    if (byte === quote) {
      this.#mode = mode.name
      this.#token = ''
      this.#hasEscape = false
    } else if (byte === objectEnd) {
      this.#open.pop()
      if (this.#open.length === 0) this.#mode = mode.top
    }
  }

  /** @returns the index after the name */
  #readName(bytes: Uint8Array, start: number, end: number): number {
    const nameEnd = this.#endOfText(bytes, start, end)
    const node = this.#open.at(-1)
    const isWhole = nameEnd < end
    const isOther = isWhole && this.#token === '' && !this.#hasEscape && !node?.lengths.has(nameEnd - start)
    if (!isOther) this.#keep(bytes, start, nameEnd)
    if (isWhole) {
      this.#member = isOther ? undefined : node?.members.get(plainName(this.#token))
      this.#mode = mode.value
    }
    return nameEnd + 1
  }

  #readValue(byte: number): void {
    if (byte === quote) this.#skipText(mode.object)
    else if (byte === objectStart && this.#member !== undefined && this.#member.members.size > 0)
      this.#enter(this.#member)
    else if (byte === objectStart || byte === arrayStart) {
      this.#mode = mode.skipped
      this.#skippedDepth = 1
    } else if (byte === comma || byte === objectEnd) {
      this.#mode = mode.object
      this.#readObject(byte)
    } else if (byte !== colon && byte > 0x20) {
      this.#mode = mode.number
      this.#token = String.fromCharCode(byte)
    }
  }

  /** Reads a number, or skips `true`, `false` and `null`. @returns the index after it */
  #readNumber(bytes: Uint8Array, start: number, end: number): number {
    let index = start
    while (index < end && isOfNumber(bytes[index] ?? 0)) index++
    const field = this.#member?.field
    if (field !== undefined) this.#keep(bytes, start, index)
    if (index === end) return end
    const value = field === undefined || !isNumber.test(this.#token) ? Number.NaN : Number(this.#token)
    if (field !== undefined && Number.isFinite(value)) this.#onNumber(field, value)
    this.#mode = mode.object
    this.#readObject(bytes[index] ?? 0)
    return index + 1
  }

  #keep(bytes: Uint8Array, start: number, end: number): void {
    const last = Math.min(end, start + tokenBytesMax + 1 - this.#token.length)
    for (let index = start; index < last; index++) this.#token += String.fromCharCode(bytes[index] ?? 0)
  }

  #enter(node: FieldNode): void {
    this.#open.push(node)
    this.#mode = mode.object
  }

  #skipText(after: number): void {
    this.#mode = mode.text
    this.#afterText = after
  }
}

function isOfNumber(byte: number): boolean {
  return byte > 0x20 && byte !== comma && byte !== objectEnd && byte !== arrayEnd
}

const isNumber = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** A name without its escapes. */
function plainName(token: string): string {
  if (!token.includes('\\')) return token
  try {
    return String(JSON.parse(`"${token}"`))
  } catch {
    return ''
  }
}
