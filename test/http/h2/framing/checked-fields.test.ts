import fc from 'fast-check'
import t from 'tap'
import { checkField, checkValue, hasUsualName } from '#http/h2/framing/fields.ts'
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
function passPlainly(fields: readonly string[]): boolean {
  return [...fieldsIn(fields)].every(([name, value]) =>
    name.startsWith(':')
      ? passes(() => checkValue(name, value)) && /^:[!#$%&'*+.^_`|~0-9a-z-]*$/.test(name)
      : passes(() => checkField(name, value)),
  )
}

t.test(`a list needs no check where each field passes the checks by itself (seed ${seed})`, async (t) => {
  const found = { checked: 0, others: 0 }
  fc.assert(
    fc.property(fc.array(fc.array(field, { maxLength: 4 }), { maxLength: 12 }), (blocks) => {
      const decoder = new HpackDecoder(hasUsualName)
      for (const block of blocks) {
        const fields: string[] = []
        // An index that is not in the table ends the connection.
        if (!passes(() => decoder.decode(Buffer.concat(block), fields, 100_000))) return
        if (decoder.areChecked !== passPlainly(fields)) throw new Error(JSON.stringify(fields))
        if (block.length > 0) found[decoder.areChecked ? 'checked' : 'others']++
      }
    }),
    { seed, numRuns: 3_000 },
  )
  t.ok(found.checked > 300 && found.others > 300, JSON.stringify(found))
})

t.test('so does one in Huffman code', async (t) => {
  const decoder = new HpackDecoder(hasUsualName)
  const needsNoCheck = (value: readonly number[]) => {
    const head = literal('x-a', '', 0x40).subarray(0, -1)
    decoder.decode(Buffer.concat([head, Buffer.from([0x80 | value.length, ...value])]), [], 100_000)
    return decoder.areChecked
  }
  t.ok(needsNoCheck([0x1f]), 'a')
  t.notOk(needsNoCheck([0xff, 0xff, 0xff, 0xf3]), 'LF')
  t.notOk(needsNoCheck([0x53]), 'a space')
})

t.test('whether a list needs one does not depend on what came before', async (t) => {
  const decoder = new HpackDecoder(hasUsualName)
  const needsNoCheck = (block: Buffer) => {
    decoder.decode(block, [], 100_000)
    return decoder.areChecked
  }
  t.notOk(needsNoCheck(literal('Bad', '1', 0x40)))
  t.ok(needsNoCheck(literal('good', '1', 0x40)))
  t.notOk(needsNoCheck(Buffer.from([0x80 | 63])), 'the first comes again from the table')
  t.ok(needsNoCheck(Buffer.from([0x80 | 62])))
})
