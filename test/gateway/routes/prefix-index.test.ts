import t from 'tap'
import { findByPrefix, PrefixIndex } from '#gateway/routes/prefix-index.ts'
import { createRandom } from '../../http/outgoing/random.ts'

const indexOf = (prefixes: readonly string[]) => new PrefixIndex(prefixes.map((prefix) => ({ prefix })))
const depthOf = (prefix: string) => prefix.split('/').length - 1

/** The longest prefix of whole segments, found by trying all. */
function foundPlainly(prefixes: readonly string[], path: string): string | undefined {
  const fitting = prefixes.filter((prefix) => path === prefix || path.startsWith(`${prefix}/`))
  return fitting.toSorted((one, other) => other.length - one.length)[0]
}

t.test('the longest prefix of whole segments is found, however deep a path is', async (t) => {
  const random = createRandom(5)
  const segment = () => `/${random.pick(['a', 'b', 'ab', 'Aa', 'BB', 'x'.repeat(300), ''])}`
  const path = (depthMax: number) => Array.from({ length: random.below(depthMax) }, segment).join('')
  for (let turn = 0; turn < 3_000; turn++) {
    const prefixes = Array.from({ length: 1 + random.below(12) }, () => path(4)).filter(
      (prefix) => !prefix.endsWith('/') && !prefix.includes('//'),
    )
    const depthMax = Math.max(0, ...prefixes.map(depthOf))
    const asked = `${path(8)}${random.pick(['', '/'])}` || '/'
    const found = findByPrefix([indexOf([...new Set(prefixes)])], asked, depthMax)
    t.equal(found?.prefix, foundPlainly(prefixes, asked), `${asked} among ${prefixes.join(' ')}`)
  }
})

t.test('prefixes with the same hash are told apart', async (t) => {
  const index = indexOf(['/Aa', '/BB', '/Aa/BB', '/BB/Aa'])
  for (const prefix of ['/Aa', '/BB', '/Aa/BB', '/BB/Aa'])
    t.equal(findByPrefix([index], `${prefix}/c`, 2)?.prefix, prefix)
  t.equal(findByPrefix([index], '/Aa/Aa', 2)?.prefix, '/Aa')
  t.equal(findByPrefix([indexOf(['/Aa'])], '/BB', 1), undefined)
})

t.test('a longer prefix wins over an earlier index, and an earlier index over the same prefix', async (t) => {
  const own = [{ prefix: '/a', of: 'host' }]
  const any = [
    { prefix: '/a', of: 'any' },
    { prefix: '/a/b', of: 'any' },
  ]
  const indexes = [new PrefixIndex(own), new PrefixIndex(any)]
  t.strictSame(findByPrefix(indexes, '/a/c', 2), { prefix: '/a', of: 'host' })
  t.strictSame(findByPrefix(indexes, '/a/b', 2), { prefix: '/a/b', of: 'any' })
  t.equal(findByPrefix(indexes, '/b', 2), undefined)
})
