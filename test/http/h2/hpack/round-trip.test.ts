import fc from 'fast-check'
import t from 'tap'
import { HpackDecoder } from '#http/h2/hpack/decoder.ts'
import { HpackEncoder } from '#http/h2/hpack/encoder.ts'

const seed = 7_541

const text = (maxLength: number) =>
  fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)), maxLength })
/** Names that are kept, never kept or secret, so few that they come again. */
const name = fc.oneof(
  fc.constantFrom('vary', 'server', 'date', 'content-type', 'grpc-status', 'x-powered-by', ':status'),
  fc.constantFrom('etag', ':path', 'cookie', 'set-cookie', 'x-other', 'Server', 'VARY', ''),
  text(12).map((one) => one.toLowerCase()),
)
const value = fc.oneof(
  fc.constantFrom('', 'a', 'b', '200', '404', 'gzip, deflate', 'v'.repeat(100), 'w'.repeat(128)),
  text(40),
  fc.integer({ min: 120, max: 300 }).map((length) => 'l'.repeat(length)),
)
const repeated = fc.constantFrom<[string, string]>(
  ['vary', 'v'.repeat(100)],
  ['server', 's'.repeat(60)],
  ['date', 'd'.repeat(128)],
)
const block = fc.record({
  fields: fc.array(fc.oneof(fc.tuple(name, value), repeated), { maxLength: 12 }),
  /** Of the table, from before it. */
  limits: fc.array(
    fc.oneof(fc.integer({ min: 0, max: 4_096 }), fc.integer({ min: 0, max: 200 }), fc.constant(100_000)),
    { maxLength: 3 },
  ),
})

t.test(`what is encoded is decoded as it was, on one connection (seed ${seed})`, async (t) => {
  let fromTable = 0
  fc.assert(
    fc.property(fc.array(block, { minLength: 1, maxLength: 30 }), (blocks) => {
      const encoder = new HpackEncoder()
      const decoder = new HpackDecoder()
      for (const { fields, limits } of blocks) {
        for (const limit of limits) encoder.limitTable(limit)
        encoder.begin()
        for (const [name, value] of fields) {
          const before = encoder.end().length
          encoder.add(name, value)
          if (value.length > 40 && encoder.end().length === before + 1) fromTable++
        }
        const encoded = encoder.end()
        const read: string[] = []
        if (!decoder.decode(encoded, read, 1_000_000)) throw new Error('it is not whole')
        const expected = fields.flatMap(([name, value]) => [name.toLowerCase(), value])
        if (read.join('\n') !== expected.join('\n') || read.length !== expected.length)
          throw new Error(JSON.stringify({ expected, read }))
      }
    }),
    { seed, numRuns: 2_000 },
  )
  t.ok(fromTable > 500, `${fromTable} long values were one byte`)
})
