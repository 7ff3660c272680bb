import t from 'tap'
import { LineCache } from '../../src/http1/line-cache.ts'
import { type RequestLine, readRequestLine } from '../../src/http1/request-line.ts'
import { bytesOf, readHeads } from './read-heads.ts'

const fields = 'Host: x\r\n\r\n'

/** Reads the first line of a head, as a parser does. @returns undefined = it was not kept */
function read(lines: LineCache, head: string): RequestLine | undefined {
  const bytes = bytesOf(head)
  const known = lines.find(bytes)
  if (known) return known
  const line = readRequestLine({ bytes, text: head })
  if (line) lines.keep(line)
  return undefined
}

/** Whether a line is kept that came twice. */
function isKept(line: string): boolean {
  const lines = new LineCache()
  read(lines, `${line}\r\n${fields}`)
  read(lines, `${line}\r\n${fields}`)
  return read(lines, `${line}\r\n${fields}`) !== undefined
}

t.test('a line that came twice is known, whatever follows it', async (t) => {
  const lines = new LineCache()
  const line = 'GET /a%2f/ HTTP/1.1\r\n'
  t.equal(read(lines, line + fields), undefined)
  t.equal(read(lines, line + fields), undefined)
  const known = { method: 'GET', target: '/a%2f/', minorVersion: 1, end: line.length - 2 }
  for (const rest of [fields, '', 'X: y\r\n\r\nbody']) t.match(read(lines, line + rest), known)
  t.equal(read(lines, 'GET /a%2f/'), undefined, 'not all of it has arrived')
  t.equal(read(lines, line.slice(0, -1)), undefined, 'its LF has not arrived')
})

t.test('lines that differ in one byte are not taken for each other', async (t) => {
  const line = 'GET /ab HTTP/1.1\r\n'
  for (let at = 0; at < line.length; at++) {
    const others = ['z', ' ', '\r', '\n', '\0', '/', '0'].filter((byte) => byte !== line[at])
    for (const byte of others) {
      const lines = new LineCache()
      for (let times = 0; times < 3; times++) read(lines, line + fields)
      const other = `${line.slice(0, at)}${byte}${line.slice(at + 1)}${fields}`
      t.equal(lines.find(bytesOf(other)), undefined, JSON.stringify(other))
    }
  }
})

t.test('heads are read the same with lines that are known', async (t) => {
  for (const line of ['GET / HTTP/1.0', 'POST /a/../b HTTP/1.1', 'get * HTTP/1.1', 'A /\u00fc HTTP/1.1']) {
    const pieces = [bytesOf(`${line}\r\n${fields}`.repeat(4))]
    const { heads, refusal } = readHeads(pieces)
    t.equal(refusal, undefined)
    t.equal(heads.length, 4)
    const [first, ...others] = heads.map(({ method, target, minorVersion }) => ({
      method,
      target,
      minorVersion,
    }))
    for (const other of others) t.strictSame(other, first)
  }
})

t.test('lines of 256 characters are kept, longer ones and those with a query are not', async (t) => {
  for (const [length, isExpected] of [
    [16, true],
    [255, true],
    [256, true],
    [257, false],
    [5_000, false],
  ] as const)
    t.equal(isKept(`GET /${'a'.repeat(length - 14)} HTTP/1.1`), isExpected, `${length}`)
  t.notOk(isKept('GET /a?key=1 HTTP/1.1'))
  t.notOk(isKept('GET /\u00e9 HTTP/1.1'), 'what arrived is not its target')
})

/** How many of these are known once each came twice in a row. */
function countKept(targets: readonly string[]): number {
  const lines = new LineCache()
  const texts = targets.map((target) => `GET ${target} HTTP/1.1\r\n${fields}`)
  for (const text of texts) for (let times = 0; times < 2; times++) read(lines, text)
  return texts.filter((text, index) => lines.find(bytesOf(text))?.target === targets[index]).length
}

t.test('8,192 lines are kept at most, and those that find no place displace each other', async (t) => {
  const targets = (count: number) => Array.from({ length: count }, (_, index) => `/services/s${index}/items`)
  const ofFew = countKept(targets(3_000))
  t.ok(ofFew > 2_900, `${ofFew} of 3,000`)
  const ofMany = countKept(targets(20_000))
  t.ok(ofMany > 8_000 && ofMany <= 8_192, `${ofMany} of 20,000`)
})

t.test('the texts of all lines have a bound', async (t) => {
  const targets = Array.from({ length: 8_000 }, (_, index) => `/${String(index).padStart(230, 'a')}`)
  const ofMany = countKept(targets)
  t.ok(ofMany <= 1_048_576 / 234, `${ofMany} of 8,000`)
  const ofFew = countKept(targets.slice(0, 4_000))
  t.ok(ofFew > 3_700, `below it they are kept: ${ofFew} of 4,000`)
})

t.test('lines that take turns are known after a while, though some share a mark', async (t) => {
  const lines = new LineCache()
  const texts = Array.from({ length: 3_000 }, (_, index) => `GET /s${index} HTTP/1.1\r\n${fields}`)
  for (let round = 0; round < 25; round++) for (const text of texts) read(lines, text)
  const known = texts.filter((text) => lines.find(bytesOf(text)))
  t.ok(known.length > 2_800, `${known.length} of 3,000`)
})
