import t from 'tap'
import { HpackDecoder } from '#http/h2/hpack/decoder.ts'
import { CompressionError } from '#http/h2/hpack/tables.ts'
import { hex } from './hex.ts'
import { rfcExamples } from './rfc-examples.ts'

const anySize = 1_000_000
/** The index of the latest entry of the dynamic table, in the form of an indexed field. */
const latest = 0xbe

function decode(decoder: HpackDecoder, block: Buffer, sizeMax = anySize): string[] {
  const fields: string[] = []
  decoder.decode(block, fields, sizeMax)
  return fields
}

function isRefused(block: Buffer, decoder = new HpackDecoder()): boolean {
  try {
    decode(decoder, block)
    return false
  } catch (error) {
    if (error instanceof CompressionError) return true
    throw error
  }
}

/** What the dynamic table holds, the latest first; asking does not change it. */
function tableOf(decoder: HpackDecoder): string[] {
  const entries: string[] = []
  for (let index = latest; !isRefused(Buffer.from([index]), decoder); index++)
    entries.push(...decode(decoder, Buffer.from([index])))
  return entries
}

/** A text as a string without Huffman code, shorter than 127 bytes. */
function literal(name: string, value: string, pattern = 0x40): Buffer {
  const text = (one: string) => Buffer.concat([Buffer.from([one.length]), Buffer.from(one, 'latin1')])
  return Buffer.concat([Buffer.from([pattern]), text(name), text(value)])
}

/** Changes the size of the table (RFC 7541 6.3). */
function sizeUpdate(size: number): Buffer {
  if (size < 31) return Buffer.from([0x20 | size])
  const rest = size - 31
  return rest < 128 ? Buffer.from([0x3f, rest]) : Buffer.from([0x3f, 0x80 | (rest & 127), rest >> 7])
}

for (const { section, tableSize, examples } of rfcExamples) {
  t.test(`the decoder reads RFC 7541 ${section}`, async (t) => {
    const decoder = new HpackDecoder()
    decode(decoder, sizeUpdate(tableSize))
    for (const { block, fields, table } of examples) {
      t.strictSame(decode(decoder, block), fields.flat())
      t.strictSame(tableOf(decoder), table.flat())
    }
  })
}

const refused: readonly (readonly [what: string, block: Buffer])[] = [
  ['an indexed field with the index 0', hex('80')],
  ['an index one beyond the static table, where the dynamic one is empty', hex('be')],
  ['an index far beyond both tables', hex('ff80 01')],
  ['a literal whose name has an index beyond both tables', hex('7f00 0161')],
  ['a literal without indexing, whose name has such an index', hex('0f2f 0161')],
  ['a literal never indexed, whose name has such an index', hex('1f2f 0161')],
  ['an index of more than 24 bits', hex('ffff ffff 7f')],
  ['an index with a continuation too many, of zeros', hex('ff80 8080 8000')],
  ['an index that would overflow 32 bits', hex('ffff ffff ff0f')],
  ['an index that would overflow 64 bits', hex('ffff ffff ffff ffff ffff 01')],
  ['a size with a continuation too many, of zeros', hex('3f80 8080 8000')],
  ['an integer without end', Buffer.alloc(100, 0xff)],
  ['a string longer than what is left', hex('0001 6102 61')],
  ['a string as long as memory', hex('0001 617f ffff ff07')],
  ['a name longer than what is left', hex('007f ff7f')],
  ['a size update after a field', hex('8220')],
  ['a size update between fields', hex('82 3fe1 1f 82')],
  ['a table of 4,097 bytes', sizeUpdate(4_097)],
  ['a table of 16 MB', hex('3fff ffff 07')],
  ['a size update that is cut off', hex('3f')],
  ['Huffman code padded with zeros', hex('0001 6181 18')],
  ['Huffman code padded with a zero among ones', hex('0001 6181 1d')],
  ['Huffman code padded with more than seven bits', hex('0001 6182 1fff')],
  ['Huffman code that is padding alone, of eight bits', hex('0001 6181 ff')],
  ['Huffman code with its end', hex('0001 6184 ffff ffff')],
  ['Huffman code with its end after a character', hex('0001 6185 1fff ffff ff')],
  ['Huffman code that ends within a character', hex('0001 6182 ffc0')],
  ['a name in wrong Huffman code', hex('0081 1801 61')],
]

t.test('the decoder refuses what no encoder writes', async (t) => {
  for (const [what, block] of refused) t.equal(isRefused(block), true, what)
})

t.test('the decoder reads what is just within the limits', async (t) => {
  const decoder = new HpackDecoder()
  t.strictSame(decode(decoder, hex('bd')), ['www-authenticate', ''], 'the last entry of the static table')
  t.strictSame(decode(decoder, sizeUpdate(4_096)), [])
  t.strictSame(decode(decoder, Buffer.concat([sizeUpdate(0), sizeUpdate(4_096)])), [], 'two updates')
  t.strictSame(decode(decoder, hex('0001 6180')), ['a', ''], 'empty Huffman code')
  t.strictSame(decode(decoder, hex('0000 00')), ['', ''], 'empty strings')
  t.strictSame(decode(decoder, hex('0001 6182 ffc7')), ['a', '\0'], 'padding of three ones')
  const long = Buffer.concat([hex('0001 617f 8080 00'), Buffer.alloc(127, 'v')])
  t.strictSame(decode(decoder, long), ['a', 'v'.repeat(127)], 'a length with zeros that it does not need')
})

t.test('the decoder refuses a block that is cut off, wherever that is', async (t) => {
  const long = 'v'.repeat(300)
  const huffman = hex('4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf')
  const plain = Buffer.concat([hex('7f0f'), hex('7fad 01'), Buffer.from(long)])
  const first = Buffer.concat([sizeUpdate(4_000), hex('82')])
  for (const field of [huffman, literal('name', 'value'), literal('name', 'value', 0), plain]) {
    const block = Buffer.concat([first, field])
    // The index of the third is one of the dynamic table, which has to have entries.
    const filled = () => {
      const decoder = new HpackDecoder()
      for (let entry = 0; entry < 20; entry++) decode(decoder, literal('n', String(entry)))
      return decoder
    }
    for (let end = first.length + 1; end < block.length; end++)
      if (!isRefused(block.subarray(0, end), filled())) t.fail(`${end} of ${block.toString('hex')}`)
    t.equal(isRefused(block, filled()), false)
  }
})

t.test('a list of fields is returned up to its limit, and the table keeps all of them', async (t) => {
  const decoder = new HpackDecoder()
  const block = Buffer.concat([literal('a', 'b'), literal('c', 'd'), literal('e', 'f')])
  const fields: string[] = []
  t.equal(decoder.decode(block, fields, 68), false)
  t.strictSame(fields, ['a', 'b', 'c', 'd'])
  t.strictSame(tableOf(decoder), ['e', 'f', 'c', 'd', 'a', 'b'])
  t.equal(decoder.decode(block, [], 102), true)
  const late = Buffer.concat([literal('a', 'b'), sizeUpdate(0)])
  t.throws(() => decoder.decode(late, [], 0), CompressionError, 'of a field that is left out, too')
})

t.test('the oldest entries leave a table that is full', async (t) => {
  const decoder = new HpackDecoder()
  decode(decoder, sizeUpdate(3 * 34))
  for (const value of '1234') decode(decoder, literal('n', value))
  t.strictSame(tableOf(decoder), ['n', '4', 'n', '3', 'n', '2'])
  decode(decoder, literal('n', '55'))
  t.strictSame(tableOf(decoder), ['n', '55', 'n', '4'], 'one byte more needs the place of two')
  decode(decoder, sizeUpdate(34))
  t.strictSame(tableOf(decoder), [], 'and with it none of them remains in a smaller one')
})

t.test('an entry larger than the table empties it, and is still a field', async (t) => {
  const decoder = new HpackDecoder()
  decode(decoder, Buffer.concat([sizeUpdate(100), literal('a', 'b')]))
  t.strictSame(decode(decoder, literal('name', 'v'.repeat(65))), ['name', 'v'.repeat(65)])
  t.strictSame(tableOf(decoder), [])
  decode(decoder, literal('name', 'v'.repeat(64)))
  t.strictSame(tableOf(decoder), ['name', 'v'.repeat(64)], 'one that fills it')
})

t.test('a table of size 0 keeps nothing, and one that grows again is empty', async (t) => {
  const decoder = new HpackDecoder()
  decode(decoder, literal('a', 'b'))
  t.strictSame(decode(decoder, Buffer.concat([sizeUpdate(0), literal('c', 'd')])), ['c', 'd'])
  t.strictSame(tableOf(decoder), [])
  decode(decoder, sizeUpdate(4_096))
  t.strictSame(tableOf(decoder), [])
  decode(decoder, literal('e', 'f'))
  t.strictSame(tableOf(decoder), ['e', 'f'])
})

t.test('a name may be that of the entry which its own field evicts', async (t) => {
  const decoder = new HpackDecoder()
  decode(decoder, Buffer.concat([sizeUpdate(40), literal('name', 'old')]))
  t.strictSame(decode(decoder, hex('7e03 6e65 77')), ['name', 'new'])
  t.strictSame(tableOf(decoder), ['name', 'new'])
})
