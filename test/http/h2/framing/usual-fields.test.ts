import fc from 'fast-check'
import t from 'tap'
import { checkField, checkValue, isUsualField } from '#http/h2/framing/fields.ts'
import { HpackDecoder } from '#http/h2/hpack/decoder.ts'
import { fieldsIn } from '#http/request-head.ts'

const seed = 9_113

/** A field that is spelled out: with 0x40 it goes into the table, with 0x00 it does not. */
function literal(name: string, value: string, pattern: number): Buffer {
  const text = (one: string) => Buffer.concat([Buffer.from([one.length]), Buffer.from(one, 'latin1')])
  return Buffer.concat([Buffer.from([pattern]), text(name), text(value)])
}

const anyText = fc.string({
  unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
  maxLength: 6,
})
const name = fc.oneof(
  fc.constantFrom('accept', 'x-a', 'te', 'connection', 'upgrade', 'keep-alive', 'proxy-connection'),
  fc.constantFrom(':path', ':', ':Path', 'X-a', 'a b', '', 'transfer-encoding', 'x\u007f', 'x:y'),
  anyText,
)
const value = fc.oneof(
  fc.constantFrom('', 'a', 'trailers', 'a b', 'a\tb', ' a', 'a\t', 'é', 'a\nb', '\u007f'),
  anyText,
)
const field = fc.oneof(
  fc.tuple(name, value, fc.constantFrom(0x40, 0x00, 0x10)).map((words) => literal(...words)),
  // Of the static table, and of what has been added last.
  fc.integer({ min: 1, max: 61 }).map((index) => Buffer.from([0x80 | index])),
  fc.integer({ min: 62, max: 70 }).map((index) => Buffer.from([0x80 | index])),
  // A value for a name of the static table.
  fc
    .tuple(fc.integer({ min: 1, max: 61 }), value)
    .map(([index, text]) =>
      Buffer.concat([Buffer.from([0x40 | index, text.length]), Buffer.from(text, 'latin1')]),
    ),
)

function passes(check: () => void): boolean {
  try {
    check()
    return true
  } catch {
    return false
  }
}

/** As every field would be checked by itself. */
function areUsualPlainly(fields: readonly string[]): boolean {
  return [...fieldsIn(fields)].every(([name, value]) =>
    name.startsWith(':')
      ? passes(() => checkValue(name, value)) && /^:[!#$%&'*+.^_`|~0-9a-z-]*$/.test(name)
      : passes(() => checkField(name, value)),
  )
}

t.test(`fields are usual where each of them passes the checks (seed ${seed})`, async (t) => {
  const found = { usual: 0, other: 0 }
  fc.assert(
    fc.property(fc.array(fc.array(field, { maxLength: 4 }), { maxLength: 12 }), (blocks) => {
      const decoder = new HpackDecoder(isUsualField)
      for (const block of blocks) {
        const fields: string[] = []
        // An index that is not in the table ends the connection.
        if (!passes(() => decoder.decode(Buffer.concat(block), fields, 100_000))) return
        if (decoder.areUsual !== areUsualPlainly(fields)) throw new Error(JSON.stringify(fields))
        if (block.length > 0) found[decoder.areUsual ? 'usual' : 'other']++
      }
    }),
    { seed, numRuns: 3_000 },
  )
  t.ok(found.usual > 300 && found.other > 300, JSON.stringify(found))
})

t.test('so are those in Huffman code', async (t) => {
  const decoder = new HpackDecoder(isUsualField)
  const areUsual = (value: readonly number[]) => {
    const head = literal('x-a', '', 0x40).subarray(0, -1)
    decoder.decode(Buffer.concat([head, Buffer.from([0x80 | value.length, ...value])]), [], 100_000)
    return decoder.areUsual
  }
  t.ok(areUsual([0x1f]), 'a')
  t.notOk(areUsual([0xff, 0xff, 0xff, 0xf3]), 'LF')
  t.notOk(areUsual([0x53]), 'a space')
})

t.test('a list is usual or not by itself, whatever came before', async (t) => {
  const decoder = new HpackDecoder(isUsualField)
  const areUsual = (block: Buffer) => {
    decoder.decode(block, [], 100_000)
    return decoder.areUsual
  }
  t.notOk(areUsual(literal('Bad', '1', 0x40)))
  t.ok(areUsual(literal('good', '1', 0x40)))
  t.notOk(areUsual(Buffer.from([0x80 | 63])), 'the first comes again from the table')
  t.ok(areUsual(Buffer.from([0x80 | 62])))
})
