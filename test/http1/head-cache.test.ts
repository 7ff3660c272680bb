import { mock } from 'node:test'
import t from 'tap'
import { HeadCache } from '../../src/http1/head-cache.ts'
import { RequestParser } from '../../src/http1/request-parser.ts'
import { createRandom, cutAtRandom } from '../upstream/random.ts'
import { makeRequest } from './random-requests.ts'
import { bytesOf, headBytesMax, type Reading, readHeads } from './read-heads.ts'

const block = 'Host: x\r\nSecretKey: gsk_0123456789abcdef\r\nAccept: */*\r\n\r\n'

/** Reads this alone, as on a connection of its own. */
function read(recent: HeadCache, text: string) {
  return readHeads([bytesOf(text)], undefined, recent).heads[0]
}

/** After this the block is known. */
function readTwice(recent: HeadCache, text: string): void {
  for (let times = 0; times < 2; times++) t.equal(read(recent, text)?.repeated !== undefined, false)
}

/** Whether a head is known that came as often as it takes: a long one three times. */
function isRemembered(text: string): boolean | undefined {
  const recent = new HeadCache()
  readTwice(recent, text)
  read(recent, text)
  return read(recent, text)?.repeated !== undefined
}

/** What others keep with repeated fields is no part of a head. */
function textOf(reading: Reading): string {
  return JSON.stringify(reading, (name, value) => (name === 'repeated' && value ? {} : value))
}

t.test('header fields seen twice are cached, whatever the request line', async (t) => {
  const recent = new HeadCache()
  readTwice(recent, `GET /a HTTP/1.1\r\n${block}`)
  const first = read(recent, `GET /b HTTP/1.1\r\n${block}`)
  const second = read(recent, `\r\nPOST /c?d HTTP/1.1\r\n${block}`)
  t.match(first, { method: 'GET', target: '/b', repeated: Object })
  t.match(second, { method: 'POST', target: '/c?d', repeated: Object })
  t.equal(second?.rawHeaders, first?.rawHeaders, 'the very same')
  t.strictSame(first?.rawHeaders, ['Host', 'x', 'SecretKey', 'gsk_0123456789abcdef', 'Accept', '*/*'])
})

t.test('long header fields that change each time evict no others', async (t) => {
  const recent = new HeadCache()
  const long = (number: number) =>
    `GET / HTTP/1.1\r\nHost: x\r\nCookie: ${'c'.repeat(1_000)}\r\nX-Number: ${1e9 + number}\r\n\r\n`
  const known = Array.from({ length: 50_000 }, (_, number) => read(recent, long(number))).filter(
    (head) => head?.repeated !== undefined,
  )
  t.equal(known.length, 0)
  readTwice(recent, `GET / HTTP/1.1\r\n${block}`)
  t.equal(read(recent, `GET / HTTP/1.1\r\n${block}`)?.repeated !== undefined, true)
  const again = Array.from({ length: 4 }, () => read(recent, long(0))?.repeated !== undefined)
  t.equal(again.at(-1), true, 'one that does come again is known in the end')
})

t.test('header fields that differ in one byte are not taken from the cache', async (t) => {
  const recent = new HeadCache()
  readTwice(recent, `GET / HTTP/1.1\r\n${block}`)
  for (let at = 0; at < block.length; at++) {
    for (const byte of ['z', ' ', '\r', '\n', ':', '\0']) {
      if (block[at] === byte) continue
      const text = `GET / HTTP/1.1\r\n${block.slice(0, at)}${byte}${block.slice(at + 1)}`
      const alone = readHeads([bytesOf(text)])
      t.strictSame(readHeads([bytesOf(text)], undefined, recent), alone, JSON.stringify(text))
    }
  }
  t.equal(read(recent, `GET / HTTP/1.1\r\n${block}`)?.repeated !== undefined, true)
})

t.test('heads in HTTP/1.0, in pieces or with trailing bytes bypass the cache', async (t) => {
  const recent = new HeadCache()
  const whole = `GET / HTTP/1.1\r\n${block}`
  readTwice(recent, whole)
  t.equal(read(recent, `GET / HTTP/1.0\r\n${block}`)?.repeated !== undefined, false)
  const pieces = [whole.slice(0, 40), whole.slice(40)].map(bytesOf)
  t.equal(readHeads(pieces, undefined, recent).heads[0]?.repeated !== undefined, false)
  const { heads } = readHeads([bytesOf(whole + whole)], undefined, recent)
  t.strictSame(
    heads.map(({ repeated }) => repeated !== undefined),
    [false, true],
  )
})

t.test('a body behind a cached head is framed as before', async (t) => {
  const recent = new HeadCache()
  const head = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n'
  const bodies = ['abc\r\n\r\ndef', 'ab', 'abcdefghi', 'a\r\n\r\nb\r\n\r\n']
  readTwice(recent, `${head}${bodies[0]}`)
  for (const body of bodies) {
    for (const pieces of [[head, body], [head + body]]) {
      const parser = new RequestParser({ headBytesMax, headCache: recent })
      t.match(parser.feed(bytesOf(pieces[0] ?? '')), {
        repeated: pieces[0]?.endsWith('b\r\n\r\n') ? undefined : Object,
        body: { kind: 'counted', length: 9 },
      })
      t.equal(parser.end, head.length)
    }
  }
})

t.test('header fields of 2,048 bytes are cached, longer ones are not', async (t) => {
  for (const [length, isKept] of [
    [2_048, true],
    [2_049, false],
    [12_000, false],
  ] as const) {
    t.equal(isRemembered(`GET / HTTP/1.1\r\nX: ${'x'.repeat(length - 7)}\r\n\r\n`), isKept, `${length}`)
  }
})

t.test('heads of 32 fields are cached, of more are not', async (t) => {
  for (const [count, isKept] of [
    [32, true],
    [33, false],
    [400, false],
  ] as const) {
    t.equal(isRemembered(`GET / HTTP/1.1\r\n${'X: y\r\n'.repeat(count)}\r\n`), isKept, `${count}`)
  }
})

t.test('the head cache has at most 2,048 entries', async (t) => {
  const recent = new HeadCache()
  const texts = Array.from({ length: 4_000 }, (_, index) => `GET / HTTP/1.1\r\nX: ${index}\r\n\r\n`)
  for (const text of texts) for (let times = 0; times < 2; times++) read(recent, text)
  const known = texts.filter((text) => read(recent, text)?.repeated !== undefined)
  t.equal(known.length, 2_048)
})

t.test('heads that take turns are all cached, though some share a place', async (t) => {
  const recent = new HeadCache()
  const texts = Array.from(
    { length: 200 },
    (_, index) => `GET / HTTP/1.1\r\n${block.slice(0, -2)}X: ${index}\r\n\r\n`,
  )
  for (let round = 0; round < 300; round++) for (const text of texts) read(recent, text)
  t.strictSame(
    texts.filter((text) => read(recent, text)?.repeated === undefined),
    [],
  )
})

t.test('heads unused for a second or two are dropped from the cache, others stay', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const pass = (seconds: number) => {
    for (let passed = 0; passed < seconds; passed++) mock.timers.tick(1_000)
  }
  const recent = new HeadCache()
  const often = `GET / HTTP/1.1\r\n${block}`
  const twice = often.replace('Accept', 'X-Accept')
  readTwice(recent, often)
  readTwice(recent, twice)
  const first = read(recent, often)?.rawHeaders
  for (let seconds = 0; seconds < 5; seconds++) {
    pass(1)
    t.equal(read(recent, often)?.rawHeaders, first)
  }
  t.equal(read(recent, twice)?.repeated !== undefined, false)
  pass(2)
  t.equal(read(recent, often)?.repeated !== undefined, false)
  t.equal(read(recent, often)?.repeated !== undefined, true, 'after all were forgotten it is learnt again')
  pass(2)
  t.equal(read(recent, often)?.repeated !== undefined, false, 'and forgotten')
})

t.test('a head is parsed the same whatever heads came before', async (t) => {
  const random = createRandom(14)
  const recent = new HeadCache()
  let familiar = 0
  for (let round = 0; round < 2_000; round++) {
    const sent = makeRequest(random)
    const alone = textOf(readHeads([sent]))
    for (let times = 0; times < 3; times++) {
      const pieces = times === 2 && random.below(3) === 0 ? cutAtRandom(sent, random, 3) : [sent]
      const text = textOf(readHeads(pieces, undefined, recent))
      if (text.includes('"repeated":{}')) familiar++
      if (text.replaceAll(',"repeated":{}', '') !== alone) t.equal(text, alone)
    }
  }
  t.ok(familiar > 200, `${familiar} were familiar`)
})
