import { isSpace, valueCharacters } from '../../message/characters.ts'
import { decoded, decodeHuffman } from './huffman.ts'
import {
  CompressionError,
  DynamicTable,
  entrySize,
  staticIndexMax,
  staticTable,
  tableSizeDefault,
} from './tables.ts'

/** Larger integers are of no use in a field block (RFC 7541 5.1 lets a decoder limit them). */
const integerMax = 0xff_ffff

/** Whether a field has a name that needs no further check, whatever the value is apart from that of `te`. */
type HasUsualName = (name: string, value: string) => boolean

/** Decodes all field blocks of one direction of a connection, in their order (RFC 7541). */
export class HpackDecoder {
  readonly #table = new DynamicTable()
  readonly #hasUsualName: HasUsualName | undefined
  #block: Buffer = Buffer.alloc(0)
  #at = 0
  #fields: string[] = []
  /** The remaining size for fields; negative = it is exceeded. */
  #room = 0
  /** Whether the string that was read last has only characters that values may have (RFC 9110 5.5). */
  #isPlain = false
  /** Whether no field of the last list needs a further check. It is found out once for what comes from the table. */
  areChecked = false

  /** @param hasUsualName undefined = nothing is checked */
  constructor(hasUsualName?: HasUsualName) {
    this.#hasUsualName = hasUsualName
  }

  /**
   * @param fields gets name, value, name, value, in Latin-1
   * @param sizeMax in octets as RFC 9113 6.5.2 counts them; of a larger list only the beginning is returned
   * @returns whether the list was returned as a whole
   * @throws CompressionError
   */
  decode(block: Buffer, fields: string[], sizeMax: number): boolean {
    this.#block = block
    this.#at = 0
    this.#fields = fields
    this.#room = sizeMax
    this.areChecked = true
    let isFirst = true
    while (this.#at < block.length) {
      const first = block[this.#at] ?? 0
      if ((first & 0x80) !== 0) this.#readIndexed()
      else if ((first & 0xe0) !== 0x20) this.#readLiteral((first & 0x40) !== 0)
      else if (isFirst) {
        this.#resize()
        continue
      } else throw new CompressionError('a table size comes after fields')
      isFirst = false
    }
    return this.#room >= 0
  }

  #resize(): void {
    const size = this.#readInteger(0x1f)
    if (size > tableSizeDefault) throw new CompressionError('the table is larger than allowed')
    this.#table.resize(size)
  }

  #readIndexed(): void {
    const index = this.#readInteger(0x7f)
    const name = this.#nameAt(index)
    const age = index - staticIndexMax - 1
    if (age < 0) {
      const value = staticTable[2 * index - 1] ?? ''
      this.#add(name, value, this.#hasUsualName?.(name, value) === true)
    } else this.#add(name, this.#table.valueAt(age), this.#table.isCheckedAt(age))
  }

  #readLiteral(isKept: boolean): void {
    const index = this.#readInteger(isKept ? 0x3f : 0x0f)
    const name = index === 0 ? this.#readString() : this.#nameAt(index)
    const value = this.#readString()
    const isChecked = this.#isPlain && this.#hasUsualName?.(name, value) === true
    if (isKept) this.#table.add(name, value, isChecked)
    this.#add(name, value, isChecked)
  }

  #add(name: string, value: string, isChecked: boolean): void {
    if (!isChecked) this.areChecked = false
    this.#room -= entrySize(name, value)
    if (this.#room >= 0) this.#fields.push(name, value)
  }

  #nameAt(index: number): string {
    if (index === 0 || index > staticIndexMax + this.#table.length)
      throw new CompressionError('there is no such entry')
    return index <= staticIndexMax
      ? (staticTable[2 * index - 2] ?? '')
      : this.#table.nameAt(index - staticIndexMax - 1)
  }

  /** @param mask the bits of its first byte (RFC 7541 5.1) */
  #readInteger(mask: number): number {
    let value = this.#readByte() & mask
    if (value < mask) return value
    let scale = 1
    for (;;) {
      const byte = this.#readByte()
      value += (byte & 0x7f) * scale
      if (value > integerMax) throw new CompressionError('an integer is too large')
      if (byte < 0x80) return value
      scale *= 128
      if (scale > integerMax) throw new CompressionError('an integer is too long')
    }
  }

  #readByte(): number {
    const byte = this.#block[this.#at++]
    if (byte === undefined) throw new CompressionError('a field block is cut off')
    return byte
  }

  #readString(): string {
    const isHuffman = ((this.#block[this.#at] ?? 0) & 0x80) !== 0
    const length = this.#readInteger(0x7f)
    const start = this.#at
    const end = start + length
    if (end > this.#block.length) throw new CompressionError('a field block is cut off')
    this.#at = end
    if (!isHuffman) return this.#textOf(this.#block, start, end)
    const decodedBytes = decodeHuffman(this.#block, start, end)
    return this.#textOf(decoded.bytes, 0, decodedBytes)
  }

  #textOf(bytes: Buffer, start: number, end: number): string {
    this.#isPlain = this.#hasUsualName !== undefined && isPlain(bytes, start, end)
    return bytes.toString('latin1', start, end)
  }
}

/** Whether there are no control characters, and no space at either end. */
function isPlain(bytes: Buffer, start: number, end: number): boolean {
  if (start === end) return true
  for (let index = start; index < end; index++) if (valueCharacters[bytes[index] ?? 0] !== 1) return false
  return !isSpace(bytes[start]) && !isSpace(bytes[end - 1])
}
