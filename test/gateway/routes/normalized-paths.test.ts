import t from 'tap'
import { foldCase, normalizedPaths } from '#gateway/routes/request-target.ts'

const readings: readonly (readonly [path: string, ...read: readonly string[]])[] = [
  ['/', ''],
  ['/orders', '/orders'],
  ['/orders/', '/orders'],
  ['/orders%2Frefunds', '/orders/refunds'],
  ['/orders%5Crefunds', '/orders/refunds'],
  ['/orders/%2Frefunds', '/orders/refunds'],
  ['/orders%2F%5C%2Frefunds%2F', '/orders/refunds'],
  ['/orders/%40me', '/orders/@me'],
  ['/caf%C3%A9', '/caf\u00e9'],
  ['/%F0%9F%98%80', '/\u{1f600}'],
  ['/caf%E9', '/caf\u00e9'],
  ['/%E2%84%2F', '/\u00e2\u0084'],
  ['/%C0%AFadmin', '/\u00c0\u00afadmin'],
  ['/%252Fadmin', '/%2Fadmin', '/admin'],
  ['/%252fadmin', '/%2fadmin', '/admin'],
  ['/100%25', '/100%'],
  ['/orders%2Fx%252Fy', '/orders/x%2Fy', '/orders/x/y'],
  ['/orders%253Bx%255Crefunds', '/orders%3Bx%5Crefunds', '/orders', '/orders/refunds'],
  ['/orders%25252Frefunds', '/orders%252Frefunds', '/orders%2Frefunds'],
  ['/orders;x', '/orders'],
  ['/orders;x/refunds', '/orders/refunds'],
  ['/orders%3Bx/refunds', '/orders/refunds'],
  ['/orders;x%2Frefunds', '/orders', '/orders/refunds'],
  ['/orders;x%5Crefunds', '/orders', '/orders/refunds'],
  ['/ord;x%2Fy/refunds', '/ord/refunds', '/ord/y/refunds'],
  ['/orders%3Bx%2Frefunds;y', '/orders', '/orders/refunds'],
  ['/orders/;x%2Frefunds', '/orders', '/orders/refunds'],
]

for (const [path, ...read] of readings) {
  t.test(`a backend may read ${path} as ${read.map((one) => one || '/').join(' or ')}`, async (t) => {
    t.strictSame(normalizedPaths(path), read)
  })
}

/** Every character that has another case, and those of ASCII. */
function casedCharacters(): readonly string[] {
  return Array.from({ length: 0x11_0000 }, (_, code) => code)
    .filter((code) => code < 0xd800 || code > 0xdfff)
    .map((code) => String.fromCodePoint(code))
    .filter(
      (one) => one.codePointAt(0) === undefined || one.toLowerCase() !== one || one.toUpperCase() !== one,
    )
}

const cased = casedCharacters()

t.test(
  'characters that a regular expression without regard to case takes for each other are folded alike',
  async (t) => {
    const all = [...cased, ...'abcdefghijklmnopqrstuvwxyz'].join('')
    let compared = 0
    const missed: string[] = []
    for (const one of cased) {
      for (const flags of ['gi', 'giu']) {
        for (const other of all.match(new RegExp(one, flags)) ?? []) {
          compared++
          if (foldCase(one) !== foldCase(other)) missed.push(`${one} and ${other} (${flags})`)
        }
      }
    }
    t.strictSame(missed, [])
    t.ok(compared > 10_000, `${compared} pairs`)
  },
)

t.test(
  'a lower case, an upper case or a normal form of a character is folded as the character itself',
  async (t) => {
    const missed = cased.filter((one) =>
      [one.toLowerCase(), one.toUpperCase(), one.normalize('NFC'), one.normalize('NFD'), foldCase(one)].some(
        (other) => foldCase(other) !== foldCase(one),
      ),
    )
    t.strictSame(missed, [])
  },
)

t.test(
  'characters that only some backends fold are folded: Kelvin sign, long s, sharp s, final sigma',
  async (t) => {
    const pairs = [
      ['\u212a', 'k'],
      ['\u017f', 's'],
      ['stra\u00dfe', 'STRASSE'],
      ['stra\u1e9ee', 'strasse'],
      ['\u03bb\u03cc\u03b3\u03bf\u03c2', '\u039b\u038c\u0393\u039f\u03a3'],
      ['cafe\u0301', 'CAF\u00c9'],
    ] as const
    for (const [one, other] of pairs) t.equal(foldCase(one), foldCase(other), `${one} and ${other}`)
    t.not(foldCase('a'), foldCase('\u00e4'), 'other letters stay apart')
  },
)
