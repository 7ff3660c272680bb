import t from 'tap'
import { MarkedLines, readFieldLines } from '#http/message/field-lines.ts'
import { headBlock } from '#http/message/head-bytes.ts'
import { type MarkedName, NameTable } from '#http/message/name-table.ts'

const names: readonly MarkedName[] = [
  { name: 'x-user-id', mark: 20, isFolded: true },
  { name: 'x-user-id', mark: 21 },
  { name: 'x-user-', mark: 22, isPrefix: true },
  { name: 'origin', mark: 23 },
]
const table = new NameTable(names)

/** @returns what `readFieldLines` returns, and the marks of the lines */
function read(lines: string): { readonly end: number; readonly marks: readonly number[] } {
  const marked = new MarkedLines()
  headBlock.load(Buffer.from(`${lines}\r\n`, 'latin1'))
  const end = readFieldLines(0, table, marked)
  return { end, marks: [...marked.at.subarray(0, marked.end)].filter((_, index) => index % 5 === 0) }
}

t.test('a value may have any byte but control characters, wherever it is', async (t) => {
  const wrong: string[] = []
  for (let byte = 0; byte < 256; byte++) {
    const isAllowed = byte === 0x09 || (byte >= 0x20 && byte !== 0x7f)
    for (let before = 0; before < 9; before++) {
      for (let after = 0; after < 9; after++) {
        const line = `A: ${'x'.repeat(before)}${String.fromCharCode(byte)}${'x'.repeat(after)}\r\n`
        if (read(line).end !== (isAllowed ? line.length : -1)) wrong.push(JSON.stringify(line))
      }
    }
  }
  t.same(wrong, [])
})

t.test('a value of any length is read to its end, up to the end of the memory', async (t) => {
  for (const length of [16_370, 16_371, 16_372, 16_373, 16_374, 16_375, 16_376, 16_377, 40_000]) {
    const line = `A: ${'x'.repeat(length)}\r\n`
    t.equal(read(line).end, line.length, `${length} bytes`)
    headBlock.load(Buffer.from(line.slice(0, -2)))
    t.equal(readFieldLines(0, table, new MarkedLines()), 0, `${length} bytes without an end`)
  }
})

t.test('names get their marks in any spelling', async (t) => {
  const marksOf: Readonly<Record<string, readonly number[]>> = {
    'X-User-Id': [21],
    'x-user-id': [21],
    'X-USER-ID': [21],
    X_User_Id: [20],
    xuserid: [20],
    '-X.User~Id-': [20],
    'X-User-Idx': [22],
    'x-user-role': [22],
    _x_USER_role: [22],
    '--xuserrole': [22],
    'X-User': [22],
    'X-Use': [],
    'Y-User-Role': [],
    'YX-User-Role': [],
    Origin: [23],
    ORIGIN: [23],
    'Ori-gin': [],
    Origins: [],
    Origi: [],
  }
  for (const [name, marks] of Object.entries(marksOf)) {
    t.same(read(`${name}: x\r\n`).marks, marks, name)
    t.equal(table.markOf(name), marks[0] ?? 0, `${name}, decoded`)
  }
  t.same(read('A: x\r\nOrigin:x\r\nB: x\r\nx-user-x:\r\n').marks, [23, 22])
})

t.test('names without a mark in a table without a prefix', async (t) => {
  const marked = new MarkedLines()
  headBlock.load(Buffer.from('x-user-id: x\r\n-a: x\r\n\r\n'))
  t.equal(readFieldLines(0, new NameTable([]), marked), 21)
  t.equal(marked.end, 0)
})

t.test('what the lines of one head needed is not kept for others', async (t) => {
  const marked = new MarkedLines()
  const usual = marked.at.length
  const line = 'Origin: x\r\n'
  for (const count of [64, 65, 3_000]) {
    headBlock.load(Buffer.from(`${line.repeat(count)}\r\n`))
    t.equal(readFieldLines(0, table, marked), count * line.length, `${count} lines`)
    t.equal(marked.end, 5 * count)
    t.equal(marked.copy().at.length, 5 * count, 'a copy')
    marked.clear()
    t.equal(marked.at.length, usual, 'the next head')
  }
})

t.test('a copy takes further lines', async (t) => {
  for (const count of [0, 1, 8, 9, 64, 100]) {
    const marked = new MarkedLines()
    for (let index = 0; index < count; index++) marked.add(index, 1, 2, 3, 4)
    const copy = marked.copy()
    for (let index = count; index < count + 100; index++) copy.add(index, 1, 2, 3, 4)
    const marks = [...copy.at.subarray(0, copy.end)].filter((_, index) => index % 5 === 0)
    t.same(marks, [...Array(count + 100).keys()], `${count} lines`)
    t.equal(marked.end, 5 * count)
  }
})
