import t from 'tap'
import { createRevokedKeys } from '#identity/cache/bounded-caches.ts'
import { newKey } from '../../store/samples.ts'

t.test('a revoked key is recognised by its digest', (t) => {
  const spent = createRevokedKeys(10)
  const [one, two] = [newKey().digest, newKey().digest]
  spent.add(one)
  t.strictSame([spent.has(new Uint8Array(one)), spent.has(two)], [true, false])
  spent.clear()
  t.equal(spent.has(one), false)
  t.end()
})

t.test('only the latest revoked keys are kept, up to the limit', (t) => {
  const spent = createRevokedKeys(3)
  const digests = Array.from({ length: 5 }, () => newKey().digest)
  for (const digest of digests) spent.add(digest)
  t.strictSame(
    digests.map((digest) => spent.has(digest)),
    [false, false, true, true, true],
  )
  t.end()
})
