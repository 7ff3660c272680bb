import t from 'tap'
import { createHostLookup, hostsOverlap, isWildcard } from '#gateway/routes/hosts.ts'

const hosts = [
  undefined,
  '*.example.com',
  '*.b.example.com',
  'a.b.example.com',
  'example.com',
  'other.test',
] as const

t.test(
  'a host has its own value, then those of wildcards, the longest first, then that of any',
  async (t) => {
    const lookup = createHostLookup(new Map(hosts.map((host) => [host, host ?? 'any'])))
    for (const [host, values] of [
      ['example.com', ['example.com', 'any']],
      ['a.example.com', ['*.example.com', 'any']],
      ['x.y.example.com', ['*.example.com', 'any']],
      ['b.example.com', ['*.example.com', 'any']],
      ['c.b.example.com', ['*.b.example.com', '*.example.com', 'any']],
      ['x.c.b.example.com', ['*.b.example.com', '*.example.com', 'any']],
      ['a.b.example.com', ['a.b.example.com', '*.b.example.com', '*.example.com', 'any']],
      ['other.test', ['other.test', 'any']],
      ['x.other.test', ['any']],
      ['aexample.com', ['any']],
      ['.example.com', ['any']],
      ['a.example.com.', ['any']],
      ['com', ['any']],
      ['', ['any']],
    ] as const)
      t.strictSame(lookup.valuesFor(host), values, host)
    for (const host of ['example.com', 'x.example.com', 'other.test']) t.ok(lookup.isNamed(host), host)
    for (const host of ['x.other.test', 'com', 'aexample.com']) t.notOk(lookup.isNamed(host), host)
    for (const host of ['a,b.example.com', 'a,x.b.example.com', '*.example.com', 'a%2c.example.com'])
      t.ok(lookup.isMisread(host), host)
    for (const host of ['a.example.com', 'a_b-1.example.com', 'a,b.test', 'a,example.com', '[::1]'])
      t.notOk(lookup.isMisread(host), host)
  },
)

t.test('without a value for any host, a host that is not named has none', async (t) => {
  const lookup = createHostLookup(new Map([['*.example.com', 1]]))
  t.strictSame(lookup.valuesFor('example.com'), [])
  t.strictSame(lookup.valuesFor('a.example.com'), [1])
  t.strictSame(createHostLookup(new Map()).valuesFor('a'), [])
})

t.test('hosts overlap where one name is of both', async (t) => {
  for (const [one, other] of [
    [undefined, 'a.test'],
    [undefined, undefined],
    ['a.test', 'a.test'],
    ['*.test', 'a.test'],
    ['*.test', '*.a.test'],
    ['*.test', undefined],
  ] as const) {
    t.ok(hostsOverlap(one, other), `${one} ${other}`)
    t.ok(hostsOverlap(other, one))
  }
  for (const [one, other] of [
    ['a.test', 'b.test'],
    ['*.test', 'test'],
    ['*.a.test', 'b.test'],
    ['*.a.test', '*.b.test'],
    ['*.test', 'atest'],
  ] as const) {
    t.notOk(hostsOverlap(one, other), `${one} ${other}`)
    t.notOk(hostsOverlap(other, one))
  }
  t.notOk(isWildcard(undefined))
})

t.test('a look-up of a long name costs a few steps', async (t) => {
  const lookup = createHostLookup(new Map([['*.example.com', 1]]))
  const name = 'a.'.repeat(100_000)
  const start = performance.now()
  for (let count = 0; count < 1_000; count++) lookup.valuesFor(name)
  t.ok(performance.now() - start < 2_000)
})
