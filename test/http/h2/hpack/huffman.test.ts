import t from 'tap'
import { decoded, decodeHuffman } from '#http/h2/hpack/huffman.ts'

/** The codes of what no header of node:http2 can have, with their lengths (RFC 7541 Appendix B), by byte. */
const controlCodes: readonly (readonly [byte: number, code: number, bits: number])[] = [
  ...([
    [0, 0x1ff8, 13],
    [1, 0x7fffd8, 23],
    [9, 0xffffea, 24],
    [10, 0x3ffffffc, 30],
  ] as const),
  ...([
    [13, 0x3ffffffd, 30],
    [22, 0x3ffffffe, 30],
    [127, 0xffffffc, 28],
  ] as const),
  ...[2, 3, 4, 5, 6, 7, 8].map((byte, index) => [byte, 0xfffffe2 + index, 28] as const),
  ...[11, 12].map((byte, index) => [byte, 0xfffffe9 + index, 28] as const),
  ...[14, 15, 16, 17, 18, 19, 20, 21].map((byte, index) => [byte, 0xfffffeb + index, 28] as const),
  ...[23, 24, 25, 26, 27, 28, 29, 30, 31].map((byte, index) => [byte, 0xffffff3 + index, 28] as const),
]

/** Bits as bytes, padded with ones. */
function bytesOf(bits: string): Buffer {
  const padded = bits.padEnd(Math.ceil(bits.length / 8) * 8, '1')
  return Buffer.from(padded.match(/.{8}/g)?.map((byte) => Number.parseInt(byte, 2)) ?? [])
}

function textOf(bytes: Buffer, start: number, end: number): string {
  const length = decodeHuffman(bytes, start, end)
  return decoded.bytes.toString('latin1', 0, length)
}

t.test('control characters in Huffman code are read, at any place of a byte', async (t) => {
  t.equal(controlCodes.length, 33)
  for (const [byte, code, length] of controlCodes) {
    const bits = code.toString(2).padStart(length, '0')
    // Each 0 moves it by five bits.
    for (let zeros = 0; zeros < 8; zeros++) {
      const bytes = bytesOf('00000'.repeat(zeros) + bits + bits)
      const text = '0'.repeat(zeros) + String.fromCharCode(byte, byte)
      if (textOf(bytes, 0, bytes.length) !== text) t.fail(`${byte} after ${zeros} times 0`)
    }
  }
})

t.test('a long text in Huffman code is read whole, and only between its bounds', async (t) => {
  // Eight times 0 are five bytes of zeros.
  const bytes = Buffer.alloc(50_002, 0)
  bytes[0] = 0xff
  bytes[50_001] = 0xff
  t.equal(textOf(bytes, 1, 50_001), '0'.repeat(80_000))
  t.equal(textOf(bytes, 1, 1), '')
})
