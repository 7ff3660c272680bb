import t from 'tap'
import { duplicateMember } from '#platform/json.ts'

const bodyBytesMax = 65_536

t.test('a member that has the name of an earlier one of its object is found, and its place told', (t) => {
  for (const [text, place] of [
    ['{"a":1,"a":2}', 'a'],
    ['{"a":1,"b":2,"c":3,"b":4}', 'b'],
    ['{"a":1,"\\u0061":2}', 'a'],
    ['{"\\u00e4":1,"ä":2}', 'ä'],
    ['{"\\ud83d\\ude00":1,"😀":2}', '😀'],
    ['{"a":{"b":1,"b":2}}', 'a.b'],
    ['[0,[{"a":"x,y","b":[1,{"c":1,"c":2}]}]]', '1.0.b.1.c'],
    ['{"a":{"x":1},"b":{"x":1},"a":0}', 'a'],
    ['{"__proto__":1,"__proto__":2}', '__proto__'],
    ['{"a" \n:1,\t"a" :2}', 'a'],
    ['{"\\\\":1,"\\\\":2}', '\\'],
  ] as const) {
    JSON.parse(text)
    t.equal(duplicateMember(text), place, text)
  }
  t.end()
})

t.test('what only looks like a second member is none', (t) => {
  for (const text of [
    '{}',
    '[]',
    '"a"',
    '1',
    '["a","a",{"a":["a","a"]},{"a":1}]',
    '{"a":"a","b":"a"}',
    '{"a":"\\",\\"a\\":1","b":"{\\"a\\":1,\\"a\\":2}"}',
    '{"a":{"a":{"a":[{"a":1},{"a":1}]}}}',
    '{"a":1,"A":2,"a ":3,"\\u0000a":4}',
    '{"a":"\\\\","b":"\\\\\\""}',
    '{"ä":1,"a\u0308":2}',
  ]) {
    JSON.parse(text)
    t.equal(duplicateMember(text), undefined, text)
  }
  t.end()
})

t.test('members of any JSON are compared as they are after JSON.parse', (t) => {
  let state = 1
  const random = (below: number) => {
    state = (state * 48_271) % 2_147_483_647
    return state % below
  }
  const names = ['a', 'b', 'ab', '', '"', '\\', '__proto__', '0', 'é', ':', '{', ',']
  const spell = (name: string) =>
    random(2) === 0
      ? JSON.stringify(name)
      : `"${Array.from({ length: name.length }, (_, at) => `\\u${name.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`
  let found = 0
  /** @returns a text, and whether an object in it has two members of one name */
  const make = (depth: number): readonly [text: string, hasDuplicate: boolean] => {
    const size = random(4)
    const kind = depth === 0 ? 2 : random(3)
    if (kind === 2) return [spell(names[random(names.length)] ?? ''), false]
    const items = Array.from({ length: size }, () => make(depth - 1))
    const hasInner = items.some(([, hasDuplicate]) => hasDuplicate)
    if (kind === 1) return [`[${items.map(([text]) => text).join(' , ')}]`, hasInner]
    const own = items.map(() => names[random(names.length)] ?? '')
    const text = `{${items.map(([item], at) => `${spell(own[at] ?? '')} :${item}`).join(',')}}`
    return [text, hasInner || new Set(own).size < own.length]
  }
  for (let round = 0; round < 5_000; round++) {
    const [text, hasDuplicate] = make(5)
    JSON.parse(text)
    if (hasDuplicate) found++
    if ((duplicateMember(text) !== undefined) !== hasDuplicate) t.fail(text)
  }
  t.ok(found > 100, `${found} with duplicates`)
  t.end()
})

t.test('the largest body takes a few milliseconds, whatever is in it', (t) => {
  const filled = (begin: string, piece: (index: number) => string, end: (count: number) => string) => {
    let text = begin
    let count = 0
    while (text.length + end(count + 1).length + piece(count).length < bodyBytesMax) text += piece(count++)
    return text + end(count)
  }
  for (const [what, text] of [
    [
      'members',
      filled(
        '{"z":0',
        (index) => `,"${index}":0`,
        () => '}',
      ),
    ],
    [
      'objects in objects',
      filled(
        '',
        () => '{"":',
        (count) => `0${'}'.repeat(count)}`,
      ),
    ],
    [
      'lists in lists',
      filled(
        '',
        () => '[',
        (count) => ']'.repeat(count),
      ),
    ],
    [
      'escapes',
      filled(
        '{"z":0',
        (index) => `,"\\u0061${index}":0`,
        () => '}',
      ),
    ],
    [
      'a string of escapes',
      filled(
        '{"',
        () => '\\"',
        () => '":0}',
      ),
    ],
    [
      'colons in a string',
      filled(
        '"',
        () => ':',
        () => '"',
      ),
    ],
  ] as const) {
    JSON.parse(text)
    const took = Array.from({ length: 5 }, () => {
      const startedAt = performance.now()
      t.equal(duplicateMember(text), undefined)
      return performance.now() - startedAt
    })
    t.ok(Math.min(...took) < 20, `${what}: ${Math.min(...took).toFixed(1)} ms`)
  }
  t.end()
})
