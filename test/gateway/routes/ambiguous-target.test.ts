import t from 'tap'
import { parseRequestTarget } from '#gateway/routes/request-target.ts'

/** Kinds of path that servers read differently, with what stands for each. */
const ambiguous: Readonly<Record<string, readonly string[]>> = {
  'dot segments': ['/.', '/..', '/./', '/../', '/a/.', '/a/..', '/a/./b', '/a/../b', '/../../etc', '/a/..?q'],
  'encoded dot segments in either case': [
    '/%2e',
    '/%2E',
    '/%2e%2e',
    '/%2E%2E',
    '/%2e%2E/a',
    '/.%2e',
    '/%2e.',
    '/a/%2e%2e/b',
    '/a/.%2E/b',
    '/a/%2e',
    '/a/%2e%2e?b',
  ],
  'dot segments with parameters': [
    '/a/..;/b',
    '/a/..;x=y/b',
    '/a/.;/b',
    '/..;',
    '/.;a',
    '/a/%2e%2e;/b',
    '/a/..%3b/b',
    '/a/..%3Bx/b',
    '/a/%2e%2e%3bx',
    '/a/..;;/b',
  ],
  'dot segments behind an encoded slash': [
    '/a%2f..',
    '/a%2F..%2Fb',
    '/a/..%2fb',
    '/a%2f../b',
    '/%2e%2e%2fadmin',
    '/%2E%2E%2Fadmin',
    '/a%2f.%2fb',
    '/..%2f',
    '/a%2f%2e%2e%2fb',
    '/a%2f..;/b',
    '/a%2f..%3b%2fb',
  ],
  'dot segments behind an encoded backslash': [
    '/a%5c..',
    '/a%5C..%5Cb',
    '/..%5cb',
    '/a%5c../b',
    '/%2e%2e%5cadmin',
    '/a%5c.%5cb',
    '/a%5c..%2fb',
  ],
  backslashes: ['\\', '/\\', '/a\\b', '/\\..\\a', '/a\\', '/a/..\\b', 'http://example.com/a\\b'],
  'empty segments': ['//', '//a', '/a//b', '/a//', '///', '//example.com/a', 'http://example.com//a'],
  'encoded control characters': [
    '/%00',
    '/a%00b',
    '/a%0a',
    '/a%0D%0Ab',
    '/a%09',
    '/%1f',
    '/%1F',
    '/%7f',
    '/%7F',
    '/..%00/',
    '/a/..%00',
  ],
  'raw control characters and spaces': [
    '/\u0000',
    '/a\tb',
    '/a\r\nb',
    '/a b',
    '/a\u007f',
    '/a?b\u0000',
    '/a?b c',
    '/ ',
  ],
  'broken escapes': ['/%', '/a%', '/%2', '/%zz', '/%2g', '/%g2', '/a%%20', '/%u002e', '/a%2/b', '/% 2'],
  fragments: ['/#', '/a#b', '/a?b#c', '/#/../a'],
}

for (const [kind, targets] of Object.entries(ambiguous)) {
  t.test(`a path with ${kind} is refused`, async (t) => {
    for (const sent of targets) t.equal(parseRequestTarget(sent), undefined, JSON.stringify(sent))
  })
}

t.test('every control character is refused, raw in path and query, encoded in the path', async (t) => {
  const codes = [...Array.from({ length: 32 }, (_, code) => code), 127]
  for (const code of codes) {
    const raw = String.fromCharCode(code)
    const hex = code.toString(16).padStart(2, '0')
    t.equal(parseRequestTarget(`/a${raw}b`), undefined, `${hex} raw in the path`)
    t.equal(parseRequestTarget(`/a?${raw}b`), undefined, `${hex} raw in the query`)
    t.equal(parseRequestTarget(`/a%${hex}b`), undefined, `%${hex}`)
    t.equal(parseRequestTarget(`/a%${hex.toUpperCase()}b`), undefined, `%${hex.toUpperCase()}`)
  }
})

/** Every text made of one of each list. */
function everyTextOf(...parts: readonly (readonly string[])[]): readonly string[] {
  return parts.reduce<readonly string[]>(
    (texts, choices) => texts.flatMap((text) => choices.map((choice) => text + choice)),
    [''],
  )
}

t.test('a dot segment is detected in every spelling', async (t) => {
  const dots = ['.', '%2e', '%2E']
  const slashes = ['/', '%2f', '%2F', '%5c', '%5C']
  const ends = ['', ';', '%3b', '%3B', ';a=b']
  const targets = everyTextOf(['/a'], slashes, dots, ['', ...dots], ends, slashes, ['b'])
  t.equal(targets.length, 1_500)
  t.strictSame(
    targets.filter((sent) => parseRequestTarget(sent) !== undefined),
    [],
  )
})
