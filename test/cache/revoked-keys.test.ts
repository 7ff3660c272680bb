import t from 'tap'
import { createRevokedKeys } from '../../src/cache/revoked-keys.ts'
import { newKey } from '../store/samples.ts'

t.test('a spent key is known by its digest, whoever holds it', (t) => {
  const spent = createRevokedKeys(10)
  const [one, two] = [newKey().digest, newKey().digest]
  spent.add(one)
  t.strictSame([spent.has(new Uint8Array(one)), spent.has(two)], [true, false])
  spent.clear()
  t.equal(spent.has(one), false)
  t.end()
})

t.test('no more than its number of them is kept, those that came last', (t) => {
  const spent = createRevokedKeys(3)
  const digests = Array.from({ length: 5 }, () => newKey().digest)
  for (const digest of digests) spent.add(digest)
  t.strictSame(
    digests.map((digest) => spent.has(digest)),
    [false, false, true, true, true],
  )
  t.end()
})
