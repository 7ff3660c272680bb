import t from 'tap'
import { SetCache } from '../../src/platform/set-cache.ts'
import { createRandom } from '../upstream/random.ts'

const item = (name: number, characters = 1) => ({ name, characters })

t.test('an item is found by its hash alone, in the place that it was given', async (t) => {
  const cache = new SetCache(64, 1_000)
  for (const hash of [1, -1, 2 ** 31 - 1, -(2 ** 31), 64, 128]) {
    const kept = item(hash)
    t.equal(cache.find(hash), undefined)
    const place = cache.put(hash, kept)
    t.equal(cache.find(hash), kept, `${hash}`)
    t.equal(cache.placeOf(hash), place)
    t.equal(cache.at(place ?? -1), kept)
  }
  const other = item(2)
  t.equal(cache.put(1, other), cache.placeOf(1), 'takes the place of the one with its hash')
  t.equal(cache.find(1), other)
  cache.clear()
  for (const hash of [0, 1, -1, 64]) t.equal(cache.find(hash), undefined)
})

t.test('a set has room for eight, and a further one takes the place of one of them', async (t) => {
  const cache = new SetCache<ReturnType<typeof item>>(64, 1_000)
  // All of one set.
  const hashes = Array.from({ length: 9 }, (_, index) => 64 * (index + 1))
  const [ninth = 0, ...eight] = hashes.toReversed()
  for (const hash of eight) {
    t.ok(cache.hasRoom(hash))
    cache.put(hash, item(hash))
    t.notOk(cache.hasRoom(hash), 'it is there')
  }
  t.equal(eight.filter((hash) => cache.find(hash)).length, 8)
  t.notOk(cache.hasRoom(ninth))
  t.ok(cache.hasRoom(ninth + 8), 'another set')
  cache.put(ninth, item(ninth))
  t.equal(hashes.filter((hash) => cache.find(hash)?.name === hash).length, 8)
  t.ok(cache.find(ninth))
})

t.test('all are dropped once their texts are longer than they may be together', async (t) => {
  for (const [last, kept] of [
    [4, 3],
    [5, 0],
    [5_000, 0],
  ] as const) {
    const cache = new SetCache<ReturnType<typeof item>>(64, 10)
    cache.put(1, item(1, 3))
    cache.put(2, item(2, 900))
    t.equal(cache.find(1), undefined, 'far too long')
    cache.put(1, item(1, 5))
    // In the place of the first: five are free again.
    cache.put(1, item(1, 3))
    cache.put(2, item(2, 3))
    t.equal(cache.put(3, item(3, last)) === undefined, kept === 0)
    t.equal([1, 2, 3].filter((hash) => cache.find(hash)).length, kept, `${last} more`)
  }
})

t.test('what is found is what was put last, whatever else is kept', async (t) => {
  const random = createRandom(3)
  const cache = new SetCache<ReturnType<typeof item>>(128, 400)
  const last = new Map<number, object>()
  let found = 0
  for (let step = 0; step < 50_000; step++) {
    const hash = random.below(300) - 150
    if (random.below(3) > 0) {
      const put = item(hash, 1 + random.below(5))
      last.set(hash, put)
      cache.put(hash, put)
    } else {
      const known = cache.find(hash)
      if (known) found++
      if (known && known !== last.get(hash)) t.fail(`${hash} is another`)
    }
  }
  t.ok(found > 1_000, `${found} found`)
})
