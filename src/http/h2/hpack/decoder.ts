import { decodeHuffman } from './huffman.ts'
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

/** Decodes all field blocks of one direction of a connection, in their order (RFC 7541). */
export class HpackDecoder {
  readonly #table = new DynamicTable()
  #block: Buffer = Buffer.alloc(0)
  #at = 0
  #fields: string[] = []
  /** The remaining size for fields; negative = it is exceeded. */
  #room = 0

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
    if (index <= staticIndexMax) this.#add(name, staticTable[2 * index - 1] ?? '')
    else this.#add(name, this.#table.valueAt(index - staticIndexMax - 1))
  }

  #readLiteral(isKept: boolean): void {
    const index = this.#readInteger(isKept ? 0x3f : 0x0f)
    const name = index === 0 ? this.#readString() : this.#nameAt(index)
    const value = this.#readString()
    if (isKept) this.#table.add(name, value)
    this.#add(name, value)
  }

  #add(name: string, value: string): void {
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
    return isHuffman ? decodeHuffman(this.#block, start, end) : this.#block.toString('latin1', start, end)
  }
}
