import t from 'tap'
import { roundsFrom, seedFrom } from '../../fuzz/effort.ts'
import { createRandom, cutAtRandom } from '../outgoing/random.ts'
import { makeRequest } from './random-requests.ts'
import { bytesOf, readHeads } from './read-heads.ts'

/** The same grammar as one pattern over the whole head: what is one request, and cannot be two. */
const wholeHead =
  /^(?:\r\n)*[!#$%&'*+.^_`|~0-9A-Za-z-]+ [^ \r\n]+ HTTP\/1\.[01]\r\n(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*\r\n)*\r\n/

const seed = seedFrom(11)
const rounds = roundsFrom(300)

t.test(`however the bytes are cut, the outcome is the same (seed ${seed})`, async (t) => {
  const random = createRandom(seed)
  let refused = 0
  for (let round = 0; round < rounds; round++) {
    const sent = Buffer.concat(Array.from({ length: 1 + random.below(3) }, () => makeRequest(random)))
    const whole = readHeads([sent])
    if (whole.refusal !== undefined) refused++
    const cut = readHeads(cutAtRandom(sent, random, random.pick([1, 2, 5, 40])))
    if (JSON.stringify(cut) !== JSON.stringify(whole))
      t.strictSame(cut, whole, JSON.stringify(sent.toString('latin1')))
  }
  t.ok(refused > rounds / 6 && refused < 0.99 * rounds, `${refused} of ${rounds} were refused`)
})

t.test(`exactly the well-formed request heads are accepted (seed ${seed})`, async (t) => {
  const random = createRandom(seed + 1)
  let read = 0
  for (let round = 0; round < rounds; round++) {
    const sent = makeRequest(random)
    const text = sent.toString('latin1')
    const { heads, refusal } = readHeads([sent])
    const isRead = heads.length > 0
    if (isRead) read++
    const isWellFormed = wholeHead.test(text)
    if (isRead && !isWellFormed) t.fail(`read: ${JSON.stringify(text)}`)
    // What the fields say together is another matter.
    const isFraming = refusal === 'Content-Length' || refusal === 'Transfer-Encoding'
    if (!isRead && isWellFormed && !isFraming) t.fail(`${refusal}: ${JSON.stringify(text)}`)
  }
  t.ok(read > rounds / 20 && read < 0.9 * rounds, `${read} of ${rounds} were read`)
})

t.test('a request head at its limit is read, of a byte more refused', async (t) => {
  const random = createRandom(13)
  const make = (bytes: number) => {
    const start = 'GET / HTTP/1.1\r\nHost: x\r\nX: '
    return bytesOf(`${start}${'x'.repeat(bytes - start.length - 4)}\r\n\r\n`)
  }
  for (const [bytes, refusal] of [
    [1_000, undefined],
    [1_001, 'too large'],
    [1_003, 'too large'],
    [1_004, 'too large'],
    [1_005, 'too large'],
    [50_000, 'too large'],
  ] as const) {
    const sent = make(bytes)
    t.equal(readHeads([sent], 1_000).refusal, refusal, `${bytes}`)
    for (let round = 0; round < 20; round++) {
      t.equal(readHeads(cutAtRandom(sent, random, 10), 1_000).refusal, refusal, `${bytes}, cut`)
    }
  }
})

t.test('a head that never ends is refused as soon as it is too large', async (t) => {
  const pieces = ['GET / HTTP/1.1\r\n', ...Array.from({ length: 4_000 }, () => 'X: y\r\n')].map(bytesOf)
  for (const count of [2_000, 2_727, 2_729, 2_732]) {
    const bytes = pieces.slice(0, count).reduce((sum, { length }) => sum + length, 0)
    t.equal(
      readHeads(pieces.slice(0, count)).refusal,
      bytes >= 16_384 ? 'too large' : undefined,
      `${bytes} bytes`,
    )
  }
})

t.test('bytes that cannot become a request head are refused before its end', async (t) => {
  for (const text of [
    'G(',
    'GET / HTTP/3.0\r\n',
    'GET / HTTP/1.1\n',
    'GET / HTTP/1.1\r\nX\r\n',
    'GET / HTTP/1.1\r\n X',
    'GET / HTTP/1.1\r\nX: y\n',
    'GET / HTTP/1.1\r\nX: \x01',
    'GET / HTTP/1.1\r\nX: y\r\n\r!',
    '\x16\x03\x01',
  ]) {
    t.type(readHeads([bytesOf(text)]).refusal, 'string', JSON.stringify(text))
  }
})
