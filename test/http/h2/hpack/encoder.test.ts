import t from 'tap'
import { HpackDecoder } from '#http/h2/hpack/decoder.ts'
import { fieldNameOf, HpackEncoder } from '#http/h2/hpack/encoder.ts'

function encode(encoder: HpackEncoder, ...fields: readonly (readonly [string, string])[]): Buffer {
  encoder.begin()
  for (const [name, value] of fields) encoder.add(name, value)
  return Buffer.from(encoder.end())
}

function decode(decoder: HpackDecoder, block: Buffer): string[] {
  const fields: string[] = []
  decoder.decode(block, fields, 1_000_000)
  return fields
}

/** The bits by which a field's first byte says how it is represented (RFC 7541 6). */
const neverIndexed = 0x10

for (const name of [
  'authorization',
  'cookie',
  'set-cookie',
  'SecretKey',
  'proxy-authorization',
  'x-api-key',
]) {
  t.test(`${name} is marked as never to be indexed, however often it comes`, async (t) => {
    const encoder = new HpackEncoder()
    const blocks = [1, 2, 3].map(() => encode(encoder, [name, 'the secret']))
    const decoder = new HpackDecoder()
    for (const block of blocks) {
      t.equal((block[0] ?? 0) & 0xf0, neverIndexed)
      t.strictSame(decode(decoder, block), [name.toLowerCase(), 'the secret'])
      t.ok(block.includes('the secret'))
    }
  })
}

t.test('a value enters the table when it comes again, and is then one byte', async (t) => {
  const encoder = new HpackEncoder()
  const decoder = new HpackDecoder()
  const blocks = Array.from({ length: 4 }, () => encode(encoder, ['content-type', 'text/html']))
  for (const block of blocks) t.strictSame(decode(decoder, block), ['content-type', 'text/html'])
  t.strictSame(
    blocks.map(({ length }) => length),
    [12, 11, 1, 1],
  )
  const other = encode(encoder, ['content-type', 'text/css'], ['content-type', 'text/css'])
  t.strictSame(decode(decoder, other), ['content-type', 'text/css', 'content-type', 'text/css'])
  t.equal(encode(encoder, ['content-type', 'text/css']).length, 1)
})

t.test('fields of the static table are one byte', async (t) => {
  const encoder = new HpackEncoder()
  const fields = [
    [':status', '200'],
    [':status', '404'],
    [':method', 'GET'],
    [':path', '/'],
    ['accept-encoding', 'gzip, deflate'],
  ] as const
  const block = encode(encoder, ...fields)
  t.strictSame([...block], [0x88, 0x8d, 0x82, 0x84, 0x90])
})

t.test('values of one message push nothing out of the table, and neither do long ones', async (t) => {
  const encoder = new HpackEncoder()
  for (let count = 0; count < 2; count++) encode(encoder, ['server', 'a'])
  for (let count = 0; count < 200; count++) {
    encode(encoder, ['etag', 'the same'], ['age', String(count)], ['x-own-name', 'the same'])
    encode(encoder, ['vary', 'v'.repeat(129)])
  }
  t.equal(encode(encoder, ['server', 'a']).length, 1)
})

t.test('changed sizes of the table are announced: the smallest and the last', async (t) => {
  const sizes: readonly (readonly [changes: readonly number[], announced: readonly number[]])[] = [
    [[4_096], []],
    [[65_536], []],
    [[0], [0x20]],
    [[30], [0x3e]],
    [
      [0, 4_096],
      [0x20, 0x3f, 0xe1, 0x1f],
    ],
    [
      [0, 65_536],
      [0x20, 0x3f, 0xe1, 0x1f],
    ],
    [
      [100, 0, 31, 200],
      [0x20, 0x3f, 0xa9, 0x01],
    ],
    [[31], [0x3f, 0x00]],
    [
      [100, 4_096, 50],
      [0x3f, 0x13],
    ],
  ]
  for (const [changes, announced] of sizes) {
    const encoder = new HpackEncoder()
    for (const size of changes) encoder.limitTable(size)
    t.strictSame([...encode(encoder, [':status', '200'])], [...announced, 0x88], changes.join())
    t.strictSame([...encode(encoder, [':status', '200'])], [0x88], 'only once')
  }
})

t.test('what a smaller table has evicted is not referred to', async (t) => {
  const encoder = new HpackEncoder()
  const decoder = new HpackDecoder()
  const fields = [
    ['server', 'one'],
    ['vary', 'two'],
    ['content-type', 'three'],
  ] as const
  for (const size of [4_096, 100, 50, 0, 4_096, 38]) {
    encoder.limitTable(size)
    for (let count = 0; count < 3; count++)
      t.strictSame(decode(decoder, encode(encoder, ...fields)), fields.flat())
  }
})

t.test('names are written in lower case, and values of any length whole', async (t) => {
  const encoder = new HpackEncoder()
  const long = Array.from({ length: 40_000 }, (_, index) => String.fromCharCode(33 + (index % 200))).join('')
  const decoder = new HpackDecoder()
  for (const value of ['', 'é\xff', long, 'x'.repeat(126), 'x'.repeat(127), 'x'.repeat(24), 'x'.repeat(25)])
    t.strictSame(decode(decoder, encode(encoder, ['X-Mixed-Case', value])), ['x-mixed-case', value])
})

t.test('however many names others make up, those that repeat are known', async (t) => {
  t.equal(fieldNameOf('x-early'), fieldNameOf('x-early'))
  for (let count = 0; count < 2_000; count++) fieldNameOf(`x-name-${count}`)
  t.not(fieldNameOf('x-late'), fieldNameOf('x-late'), 'their number is bounded')
  t.equal(fieldNameOf('VARY'), fieldNameOf('vary'))
  t.equal(fieldNameOf('COOKIE').isSecret, true)
  const encoder = new HpackEncoder()
  const decoder = new HpackDecoder()
  const lengths = [1, 2, 3].map(() => {
    const block = encode(encoder, ['VARY', 'a'])
    t.strictSame(decode(decoder, block), ['vary', 'a'])
    return block.length
  })
  t.strictSame(lengths, [4, 3, 1])
})
