import fc from 'fast-check'
import t from 'tap'
import { csvErrorTexts, readCsv } from '#accounts/csv.ts'
import { type AccountLine, createAccountLineReader, createLineSorter } from '#accounts/import-file.ts'

function readAll(file: string): readonly AccountLine[] {
  const reader = createAccountLineReader()
  const lines = file.split(/\r?\n/).map((text, index) => ({ line: index + 1, text, problem: undefined }))
  return [...lines.flatMap(reader.read), ...reader.end()]
}

/** The same file as the CSV library reads it, as a whole; each record through a reader of its own. */
function readWhole(file: string): readonly AccountLine[] {
  const { records, fault } = readCsv(file)
  const [header, ...others] = records
  const quoted = (cells: readonly string[]) =>
    cells.map((each) => `"${each.replaceAll('"', '""')}"`).join(',')
  const lines = others.flatMap(({ line, cells }) =>
    readAll(`${quoted(header?.cells ?? [])}\n${quoted(cells)}`).map((read) => ({ ...read, line })),
  )
  return fault ? [...lines, { line: fault.line, input: csvErrorTexts[fault.kind] }] : lines
}

const cell = fc.oneof(
  fc.constantFrom('a@example.com', 'b@example.com', '', ' ', 'true', '"', 'x"y', '"quoted, with comma"'),
  fc.constantFrom('"two\nlines"', '"a ""b"""', '" spaced "', '{', "'"),
)

t.test('a file read line by line has the accounts of the same file read as a whole', async (t) => {
  const row = fc.array(cell, { minLength: 1, maxLength: 3 }).map((cells) => cells.join(','))
  const file = fc.array(fc.oneof(row, fc.constant('')), { maxLength: 6 }).map((rows) => rows.join('\r\n'))
  let compared = 0
  fc.assert(
    fc.property(file, (rows) => {
      const text = `email,firstName\r\n${rows}`
      const whole = readWhole(text)
      // Reading as a whole ends at a quote that is wrong.
      if (whole.some(({ input }) => typeof input === 'string' && /quote/.test(input))) return
      compared++
      t.strictSame(readAll(text), whole, JSON.stringify(text))
    }),
    { numRuns: 400, seed: 17 },
  )
  t.ok(compared > 100, `${compared} files`)
})

t.test('after a quote that is not closed nothing more is read', async (t) => {
  const read = readAll('email,firstName\nok@example.com,A\nb@example.com,"B\nc@example.com,C\n')
  t.match(read, [{ line: 2 }, { line: 3, input: 'unclosed quote' }])
  t.equal(read.length, 2)
})

t.test('a record of several lines may have 8192 characters, and not one more', async (t) => {
  const recordOf = (length: number) => `"${'\n'.repeat(length - 2)}"`
  const longest = readAll(`email\n${recordOf(8_192)}\nok@example.com`)
  t.match(longest, [
    { line: 2, input: /email: must be/ },
    { line: 8_193, input: { email: 'ok@example.com' } },
  ])
  t.match(readAll(`email\n${recordOf(8_193)}\nok@example.com`), [
    { line: 2, input: /more than 8192 characters/ },
  ])
})

t.test('an e-mail that comes again is found, whatever its case, among very many', async (t) => {
  const sort = createLineSorter()
  const at = (line: number, email: string) => ({
    line,
    input: { email, firstName: '', lastName: '', role: 'User', isVerified: false },
  })
  const news = Array.from({ length: 50_000 }, (_, index) => at(index + 1, `u${index + 1}@example.com`))
  t.equal(sort(news).accounts.length, 50_000)
  const again = [1, 2, 767, 768, 769, 49_999, 50_000]
  t.strictSame(sort(again.map((line) => at(60_000 + line, `U${line}@EXAMPLE.com`))), {
    accounts: [],
    badLines: again.map((line) => ({
      line: 60_000 + line,
      message: `email: U${line}@EXAMPLE.com is already on line ${line}`,
    })),
  })
})
