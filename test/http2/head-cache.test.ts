import { mock } from 'node:test'
import fc from 'fast-check'
import t from 'tap'
import type { RequestHead } from '../../src/exchange/request-head.ts'
import { HeadCache } from '../../src/http2/head-cache.ts'
import { readRequestHead } from '../../src/http2/request-head.ts'
import { roundsFrom, seedFrom } from '../fuzz/effort.ts'

const token = 'gsk_0123456789abcdef'

/** The head of a GET: name, value, name, value. */
function get(path: string, ...fields: string[]): string[] {
  return [':method', 'GET', ':path', path, ':scheme', 'https', ':authority', 'a.example', ...fields]
}

/** After this the head is known. */
function readTwice(cache: HeadCache, raw: readonly string[], isEnded = true): void {
  for (let times = 0; times < 2; times++) t.equal(cache.read(raw, isEnded).repeated !== undefined, false)
}

/** Whether a head that has come twice is known. */
function isRemembered(raw: readonly string[]): boolean {
  const cache = new HeadCache()
  readTwice(cache, raw)
  return cache.read(raw, true).repeated !== undefined
}

/** What reading gives, without what differs by design: whether it was cached, and the random key of a handshake. */
function outcomeOf(read: () => RequestHead): object {
  try {
    const { repeated: _, rawHeaders, ...head } = read()
    const keyAt = rawHeaders.indexOf('Sec-WebSocket-Key') + 1
    return { ...head, rawHeaders: keyAt === 0 ? rawHeaders : rawHeaders.with(keyAt, '') }
  } catch (error) {
    return { error: String(error) }
  }
}

t.test('a head of HTTP/2 seen twice is cached, whatever its path', async (t) => {
  const cache = new HeadCache()
  readTwice(cache, get('/a', 'secretkey', token))
  const first = cache.read(get('/b?c', 'secretkey', token), true)
  const second = cache.read(get('/\xe9', 'secretkey', token), true)
  t.match(first, { method: 'GET', target: '/b?c', repeated: Object })
  t.match(second, { target: '/%E9', repeated: Object })
  t.equal(second.rawHeaders, first.rawHeaders, 'the very same')
  t.strictSame(first.rawHeaders, ['Host', 'a.example', 'secretkey', token])
})

t.test('a cached head of HTTP/2 serves none that differs in anything but its path', async (t) => {
  const known = get('/', 'secretkey', token, 'te', 'trailers', 'cookie', 'a=1', 'cookie', 'b=2')
  const others: readonly (readonly [string, readonly string[]])[] = [
    ['another method', known.with(1, 'PUT')],
    ['another scheme', known.with(5, 'http')],
    ['another authority', known.with(7, 'b.example')],
    ['an authority in another case', known.with(7, 'A.example')],
    ['another key', known.with(9, `${token}x`)],
    ['a key that differs in its middle', known.with(9, token.replace('7', '8'))],
    ['another name of the same length', known.with(8, 'secretkez')],
    ['a field more', [...known, 'x-a', '1']],
    ['a field less', known.slice(0, -2)],
    ['a repeated field', [...known, 'secretkey', token]],
    [
      'another order',
      [...known.slice(0, 8), ...known.slice(10, 12), ...known.slice(8, 10), ...known.slice(12)],
    ],
    ['cookies in another order', [...known.slice(0, 12), 'cookie', 'b=2', 'cookie', 'a=1']],
    ['one cookie for two', [...known.slice(0, 12), 'cookie', 'a=1; b=2']],
    ['a Host beside the authority', [...known, 'host', 'a.example']],
    ['Host for the authority', [...known.slice(0, 6), 'host', 'a.example', ...known.slice(8)]],
    ['a length', [...known, 'content-length', '0']],
    ['an expectation', [...known, 'expect', '100-continue']],
  ]
  for (const [what, raw] of others) {
    const cache = new HeadCache()
    readTwice(cache, known)
    const head = cache.read(raw, true)
    t.equal(head.repeated !== undefined, false, what)
    t.strictSame(head, readRequestHead(raw, true), what)
    t.equal(cache.read(known, true).repeated !== undefined, true)
  }
  const cache = new HeadCache()
  readTwice(cache, known)
  t.match(cache.read(known, false), { repeated: undefined, body: { kind: 'chunked' } }, 'a body')
})

t.test('heads of HTTP/2 whose fingerprints are the same are told apart', async (t) => {
  // A name counts by its length alone, and of a long value every other character.
  const [one, two] = ['a', 'b'].map((letter) =>
    get('/', 'secretkey', `${letter.repeat(2)}`.padStart(30, 'x')),
  )
  if (one === undefined || two === undefined) return
  const names = [get('/', 'x-a', '1'), get('/', 'x-b', '1')] as const
  for (const [known, other] of [[one, two], names]) {
    const cache = new HeadCache()
    readTwice(cache, known)
    t.strictSame(cache.read(other, true), readRequestHead(other, true))
    t.strictSame(
      outcomeOf(() => cache.read(known, true)),
      outcomeOf(() => readRequestHead(known, true)),
    )
  }
})

t.test('a cached head of HTTP/2 keeps no path, whose secrets would outlive its request', async (t) => {
  const cache = new HeadCache()
  const raw = get('/reset?token=secret', 'secretkey', token)
  readTwice(cache, raw)
  const kept: unknown[] = []
  const set = Map.prototype.set
  t.teardown(() => {
    Map.prototype.set = set
  })
  Map.prototype.set = function (key, value) {
    kept.push(value)
    return set.call(this, key, value)
  }
  const other = get('/reset?token=secret', 'secretkey', `${token}2`)
  readTwice(cache, other)
  Map.prototype.set = set
  t.equal(kept.length, 1)
  t.match(JSON.stringify(kept), token)
  t.notMatch(JSON.stringify(kept), 'token=secret')
})

t.test('a malformed path is refused behind a cached head of HTTP/2, too', async (t) => {
  const cache = new HeadCache()
  readTwice(cache, get('/'))
  for (const path of ['', '/a b', '/\r', '/\n']) {
    t.throws(() => cache.read(get(path), true), { name: /^Malformed/ }, JSON.stringify(path))
  }
  t.equal(cache.read(get('/'), true).repeated !== undefined, true)
})

t.test('handshakes of WebSockets and tunnels in HTTP/2 are not cached', async (t) => {
  const handshake = get('/chat', ':protocol', 'websocket', 'sec-websocket-version', '13').with(1, 'CONNECT')
  t.equal(isRemembered(handshake), false)
  t.equal(isRemembered([':method', 'CONNECT', ':authority', 'a.example:443']), false)
  t.equal(isRemembered(get('/', ':protocol', 'other').with(1, 'CONNECT')), false)
})

t.test('heads of HTTP/2 with 2,048 characters and 32 fields are cached, larger ones are not', async (t) => {
  const others = get('').join('').length
  for (const [length, isCached] of [
    [2_048, true],
    [2_049, false],
    [12_000, false],
  ] as const)
    t.equal(isRemembered(get('/', 'x', 'x'.repeat(length - others - 1))), isCached, `${length}`)
  t.equal(isRemembered(get(`/${'x'.repeat(4_000)}`)), true, 'the path does not count')
  for (const [count, isCached] of [
    [32, true],
    [33, false],
  ] as const) {
    const fields = Array.from({ length: count - 4 }, () => ['x', 'y']).flat()
    t.equal(isRemembered(get('/', ...fields)), isCached, `${count}`)
  }
})

t.test('the head cache of HTTP/2 has at most 2,048 entries', async (t) => {
  const cache = new HeadCache()
  const heads = Array.from({ length: 4_000 }, (_, index) => get('/', 'x', String(index)))
  for (const raw of heads) for (let times = 0; times < 2; times++) cache.read(raw, true)
  t.equal(heads.filter((raw) => cache.read(raw, true).repeated !== undefined).length, 2_048)
})

t.test('long heads of HTTP/2 that change each time evict no others', async (t) => {
  const cache = new HeadCache()
  const long = (number: number) => get('/', 'cookie', `${'c'.repeat(700)}${1e9 + number}${'c'.repeat(700)}`)
  const known = Array.from({ length: 50_000 }, (_, number) => cache.read(long(number), true)).filter(
    (head) => head.repeated !== undefined,
  )
  t.equal(known.length, 0)
  readTwice(cache, get('/'))
  t.equal(cache.read(get('/'), true).repeated !== undefined, true)
})

t.test('heads of HTTP/2 unused for a second or two are dropped from the cache, others stay', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const pass = (seconds: number) => {
    for (let passed = 0; passed < seconds; passed++) mock.timers.tick(1_000)
  }
  const cache = new HeadCache()
  const often = get('/', 'secretkey', token)
  const twice = get('/', 'secretkey', 'other')
  readTwice(cache, often)
  readTwice(cache, twice)
  const first = cache.read(often, true).rawHeaders
  for (let seconds = 0; seconds < 5; seconds++) {
    pass(1)
    t.equal(cache.read(often, true).rawHeaders, first)
  }
  t.equal(cache.read(twice, true).repeated !== undefined, false)
  pass(2)
  t.equal(cache.read(often, true).repeated !== undefined, false)
})

/** Few of each, so that heads come again, and differ from others in little. */
const pseudo = [
  [':method', 'GET', 'POST', 'CONNECT', 'G T'],
  [':path', '/', '/a', '/a b', ''],
  [':scheme', 'https'],
  [':authority', 'a', 'A', ''],
  [':protocol', 'websocket', 'other'],
]
const ordinary = [
  ['host', 'a', 'A', 'b'],
  ['cookie', 'a=1', 'b=2'],
  ['content-length', '0', '5', '-1'],
  ['expect', '100-continue', ''],
  ['te', 'trailers'],
  ['secretkey', token, `${token}x`],
  ['x-a', ':path', '\xe9'],
]
const field = ([name = '', ...values]: readonly string[]) =>
  fc.tuple(fc.constant(name), fc.constantFrom(...values))
const likely = fc.tuple(...pseudo.slice(0, 4).map(field))
const any = fc.array(fc.oneof(...pseudo.map(field), ...ordinary.map(field)), { maxLength: 4 })
const usual = fc.array(fc.oneof(...ordinary.map(field)), { maxLength: 4 })
const request = fc.record({
  raw: fc
    .oneof(fc.tuple(likely, usual), fc.tuple(any, any), fc.tuple(likely, any))
    .map((parts) => parts.flat(2)),
  isEnded: fc.boolean(),
})

t.test('the head cache of HTTP/2 reads exactly what is read without it', async (t) => {
  let cached = 0
  const rounds = roundsFrom(300)
  const requests = fc.array(request, { minLength: 1, maxLength: 6 })
  const order = fc.array(fc.nat(), { minLength: 10, maxLength: 30 })
  const paths = fc.array(fc.constantFrom('/', '/b?c', '/ ', ''), { minLength: 1 })
  fc.assert(
    fc.property(requests, order, paths, (heads, indexes, targets) => {
      const cache = new HeadCache()
      for (const [turn, index] of indexes.entries()) {
        const head = heads[index % heads.length]
        if (head === undefined) continue
        const { isEnded } = head
        const pathAt = head.raw.findIndex((text, at) => at % 2 === 0 && text === ':path') + 1
        const target = targets[turn % targets.length] ?? ''
        const raw = pathAt === 0 || turn % 2 === 0 ? head.raw : head.raw.with(pathAt, target)
        const read = outcomeOf(() => {
          const found = cache.read(raw, isEnded)
          if (found.repeated !== undefined) cached++
          return found
        })
        const expected = outcomeOf(() => readRequestHead(raw, isEnded))
        if (JSON.stringify(read) !== JSON.stringify(expected))
          throw new Error(JSON.stringify({ raw, read, expected }))
      }
    }),
    { numRuns: rounds, seed: seedFrom(19) },
  )
  t.ok(cached > rounds / 3, `${cached} were cached`)
})
