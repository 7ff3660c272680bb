import fc from 'fast-check'
import { readHeads } from '../../http/server/read-heads.ts'
import { assertSame, cut, cuts } from '../pieces.ts'
import { type Property, property } from '../property.ts'

const token = fc.string({ unit: fc.constantFrom(..."abzAZ09!#$%&'*+-.^_`|~"), minLength: 1, maxLength: 12 })
const value = fc
  .string({ unit: fc.constantFrom(...'abcXYZ 09\t!"(),/:;<=>?@[]{}~\x80\xff'), maxLength: 20 })
  .map((text) => text.replaceAll(/^[ \t]+|[ \t]+$/g, ''))
const target = fc
  .string({ unit: fc.constantFrom(...'abZ09/?&=%.;:@~'), maxLength: 20 })
  .map((text) => `/${text}`)

const head = fc.record({
  method: token,
  target,
  fields: fc.array(
    fc.tuple(
      // Names of framing have rules of their own.
      token.map((name) => `x-${name}`),
      value,
      fc.constantFrom('', ' ', '\t '),
    ),
    { maxLength: 8 },
  ),
})

/** From the third time on, a head is taken from the cache. */
const repetitions = fc.integer({ min: 1, max: 4 })

type Head = typeof head extends fc.Arbitrary<infer Value> ? Value : never

function encode({ method, target, fields }: Head): string {
  const lines = fields.map(([name, value, space]) => `${name}:${space}${value}${space}\r\n`)
  return `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`
}

const bytesOf = (text: string) => Buffer.from(text, 'latin1')

/** Parts of requests, well-formed or not, in any order. */
const parts = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        'GET / HTTP/1.1',
        'POST /a?b HTTP/1.0',
        'Host: x',
        'X: y',
        'Content-Length: 3',
        'Transfer-Encoding: chunked',
      ),
      fc.constantFrom(
        '\r\n',
        '\r\n',
        '\n',
        '\r',
        ' ',
        '\t',
        ':',
        '\0',
        '\r\n\r\n',
        'Connection: close',
        '\xe9',
      ),
    ),
    { maxLength: 24 },
  )
  .map((some) => bytesOf(some.join('')))

/** Without what depends on the heads before: only those that come in one piece are cached. */
function readMessages(pieces: readonly Buffer[]) {
  const { heads, ...others } = readHeads(pieces)
  return { heads, ...others }
}

export const headProperties: readonly Property[] = [
  property('a head is read as it was written', head, (sent) => {
    const { heads, rest, refusal } = readHeads([bytesOf(encode(sent))])
    assertSame(refusal, undefined)
    assertSame(rest, '')
    assertSame(
      heads.map(({ method, target, rawHeaders }) => ({ method, target, rawHeaders })),
      [
        {
          method: sent.method,
          target: sent.target,
          rawHeaders: sent.fields.flatMap(([name, value]) => [name, value] as const),
        },
      ],
    )
  }),
  property(
    'heads are the same however their bytes are cut',
    fc.tuple(fc.array(head, { maxLength: 3 }), repetitions, cuts),
    ([sent, times, lengths]) => {
      const all = bytesOf(sent.map(encode).join('').repeat(times))
      assertSame(readMessages(cut(all, lengths)), readMessages([all]))
    },
  ),
  property(
    'bytes that may be heads are read or refused alike however they are cut',
    fc.tuple(parts, cuts),
    ([sent, lengths]) => {
      assertSame(readMessages(cut(sent, lengths)), readMessages([sent]))
    },
  ),
]
