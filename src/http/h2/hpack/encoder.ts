import { copyString } from '#platform/text.ts'
import {
  DynamicTable,
  entrySize,
  staticIndexMax,
  staticNames,
  staticTable,
  tableSizeDefault,
} from './tables.ts'

/** Texts up to this length are copied in a loop, as a call into the runtime takes longer. */
const shortLengthMax = 24
/** The maximum size of an integer (RFC 7541 5.1). */
const integerBytesMax = 6

/** The last value of a name. */
interface LastValue {
  value: string
  /** The number of its entry in the table; 0 = it has none. */
  entry: number
}

/** The buffer for blocks: each is copied before the next one begins. */
let scratch = Buffer.allocUnsafeSlow(16_384)

/**
 * Encodes the field blocks of one direction of a connection (RFC 7541). A value enters the table when it occurs twice
 * in a row, so that values that always differ displace nothing. Strings are not compressed, which would cost more than
 * it saves.
 */
export class HpackEncoder {
  readonly #table = new DynamicTable()
  readonly #last = new Map<FieldName, LastValue>()
  /** The smallest size of the table since the last block; undefined = it has not changed. */
  #smallestSize: number | undefined
  #length = 0

  /** The peer allows another table size. */
  limitTable(size: number): void {
    const allowed = Math.min(size, tableSizeDefault)
    if (allowed === this.#table.sizeMax) return
    this.#table.resize(allowed)
    this.#smallestSize = Math.min(allowed, this.#smallestSize ?? allowed)
  }

  /** Begins a block. */
  begin(): void {
    this.#length = 0
    const smallest = this.#smallestSize
    if (smallest === undefined) return
    this.#smallestSize = undefined
    // Both sizes, if it has grown again (RFC 7541 4.2).
    this.#writeInteger(0x20, 0x1f, smallest)
    if (smallest !== this.#table.sizeMax) this.#writeInteger(0x20, 0x1f, this.#table.sizeMax)
  }

  /** @param text the name, in any case @param value in Latin-1 */
  add(text: string, value: string): void {
    const name = fieldNameOf(text)
    const index = name.indexes?.get(value)
    if (index !== undefined) this.#writeInteger(0x80, 0x7f, index)
    else if (!name.isKept || value.length > keptLengthMax)
      this.#writeLiteral(name.isSecret ? 0x10 : 0, 0x0f, name, value)
    else this.#addKept(name, value)
  }

  /** @returns the block, valid until the next one begins, on any connection */
  end(): Buffer {
    return scratch.subarray(0, this.#length)
  }

  #addKept(name: FieldName, value: string): void {
    const last = this.#last.get(name)
    if (last?.value === value) {
      this.#addAgain(name, last)
      return
    }
    if (last === undefined) this.#last.set(name, { value: copyString(value), entry: 0 })
    else {
      last.value = copyString(value)
      last.entry = 0
    }
    this.#writeLiteral(0, 0x0f, name, value)
  }

  #addAgain(name: FieldName, last: LastValue): void {
    const table = this.#table
    const age = table.ageOf(last.entry)
    if (age !== undefined) this.#writeInteger(0x80, 0x7f, staticIndexMax + 1 + age)
    else if (entrySize(name.name, last.value) > table.sizeMax) this.#writeLiteral(0, 0x0f, name, last.value)
    else {
      this.#writeLiteral(0x40, 0x3f, name, last.value)
      table.add(name.name, last.value)
      last.entry = table.added
    }
  }

  #writeLiteral(pattern: number, mask: number, { index, name }: FieldName, value: string): void {
    this.#writeInteger(pattern, mask, index)
    if (index === 0) this.#writeString(name)
    this.#writeString(value)
  }

  /** @param mask the bits of its first byte, whose others are in the pattern (RFC 7541 5.1) */
  #writeInteger(pattern: number, mask: number, value: number): void {
    this.#reserve(integerBytesMax)
    if (value < mask) {
      scratch[this.#length++] = pattern | value
      return
    }
    scratch[this.#length++] = pattern | mask
    let rest = value - mask
    for (; rest >= 128; rest >>>= 7) scratch[this.#length++] = 0x80 | (rest & 0x7f)
    scratch[this.#length++] = rest
  }

  #writeString(text: string): void {
    const { length } = text
    this.#writeInteger(0, 0x7f, length)
    this.#reserve(length)
    if (length > shortLengthMax) {
      scratch.write(text, this.#length, 'latin1')
      this.#length += length
    } else for (let at = 0; at < length; at++) scratch[this.#length++] = text.charCodeAt(at)
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= scratch.length) return
    const larger = Buffer.allocUnsafeSlow(2 * (this.#length + bytes))
    scratch.copy(larger, 0, 0, this.#length)
    scratch = larger
  }
}

/** Longer values are not kept in a table: they seldom repeat. */
const keptLengthMax = 128

/** What the encoder knows of a name: one object per name, for all connections. */
interface FieldName {
  /** In lower case. */
  readonly name: string
  /** Its lowest index in the static table; 0 = it is not in it. */
  readonly index: number
  /** Indexes in the static table by value; undefined = none has a value. */
  readonly indexes: ReadonlyMap<string, number> | undefined
  /** Whether intermediaries must not put it into a table (RFC 7541 7.1.3). */
  readonly isSecret: boolean
  /** Whether its values repeat often enough to keep the last one. */
  readonly isKept: boolean
}

const secretNames = new Set([
  ...['authorization', 'cookie', 'proxy-authorization', 'secretkey', 'set-cookie', 'x-api-key'],
])
/** Names in the static table whose values rarely repeat. */
const uniqueNames = new Set([
  ...[':path', 'content-disposition', 'content-location', 'content-range', 'etag', 'if-none-match'],
  ...['last-modified', 'location', 'referer'],
])
const repeatedNames = new Set([
  ...['access-control-allow-credentials', 'access-control-expose-headers', 'content-security-policy'],
  ...['grpc-accept-encoding', 'grpc-encoding', 'grpc-status', 'te', 'x-content-type-options'],
  ...['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-frame-options', 'x-powered-by'],
])

/** How many names are kept, as clients and upstreams choose most: those have at most `keptLengthMax` characters. */
const namesMax = 1_024
const known = new Map<string, FieldName>()

for (const name of [...staticNames.keys(), ...secretNames, ...repeatedNames]) {
  const index = staticNames.get(name) ?? 0
  const isSecret = secretNames.has(name)
  const isRepeated = index === 0 ? repeatedNames.has(name) : !uniqueNames.has(name)
  known.set(name, { name, index, indexes: indexesOf(name), isSecret, isKept: isRepeated && !isSecret })
}

/** @param text in any case */
export function fieldNameOf(text: string): FieldName {
  return known.get(text) ?? readName(text)
}

/** A name that this module does not list, or another spelling of one that it does. */
function readName(text: string): FieldName {
  const lower = text.toLowerCase()
  const name = known.get(lower) ?? {
    ...{ name: copyString(lower), index: 0, indexes: undefined, isSecret: false, isKept: false },
  }
  if (known.size < namesMax && text.length <= keptLengthMax) known.set(copyString(text), name)
  return name
}

function indexesOf(name: string): ReadonlyMap<string, number> | undefined {
  const indexes = new Map<string, number>()
  for (let index = staticIndexMax; index > 0; index--) {
    const value = staticTable[2 * index - 1] ?? ''
    if (staticTable[2 * index - 2] === name && value !== '') indexes.set(value, index)
  }
  return indexes.size > 0 ? indexes : undefined
}
