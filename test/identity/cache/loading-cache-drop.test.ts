import t from 'tap'
import { createBench, type Value } from './loading-cache-harness.ts'

t.test('a dropped cache entry is loaded again', async (t) => {
  const { cache, loads, getLoaded } = createBench()
  await getLoaded('a', 'old')
  await getLoaded('b', 'kept')
  await getLoaded('c', undefined)
  cache.reload('a')
  cache.reload('c')
  cache.reload('never known')
  const [a, c] = [cache.get('a'), cache.get('c')]
  t.strictSame(
    loads.slice(3).map(({ key }) => key),
    ['a', 'c'],
  )
  loads[3]?.end('new')
  loads[4]?.end('made')
  t.strictSame(await a, { text: 'new' })
  t.strictSame(await c, { text: 'made' }, 'also what did not exist')
  t.strictSame(cache.get('b'), { text: 'kept' })
  t.equal(loads.length, 5)
})

t.test('every cache entry is loaded again after a clear', async (t) => {
  const { cache, loads, getLoaded } = createBench()
  await getLoaded('a', 'old')
  await getLoaded('c', undefined)
  cache.clear()
  t.strictSame(await getLoaded('a', 'new'), { text: 'new' })
  t.strictSame(await getLoaded('c', 'made'), { text: 'made' })
  t.equal(loads.length, 4)
})

for (const [name, forget] of [
  ['dropped', (cache: { reload(key: string): unknown }) => void cache.reload('a')],
  ['cleared', (cache: { clear(): void }) => cache.clear()],
] as const) {
  t.test(`a value loading when it was ${name} is neither returned nor cached`, async (t) => {
    const { cache, loads } = createBench()
    const before = [cache.get('a'), cache.get('a')]
    forget(cache)
    const after = cache.get('a')
    t.equal(loads.length, 2, 'a lookup after it asks the store')
    loads[0]?.end('old')
    loads[1]?.end('new')
    for (const got of [...before, after]) t.strictSame(await got, { text: 'new' })
    t.strictSame(cache.get('a'), { text: 'new' })
    t.equal(loads.length, 2, 'those who waited share the second load')
  })

  t.test(`a load that was ${name} and ends last changes nothing in the cache`, async (t) => {
    const { cache, loads } = createBench()
    const before = cache.get('a')
    forget(cache)
    const after = cache.get('a')
    loads[1]?.end('new')
    t.strictSame(await after, { text: 'new' })
    loads[0]?.end('old')
    await new Promise((resolve) => setImmediate(resolve))
    // It may ask once more for those who waited for it.
    loads[2]?.end('new')
    t.strictSame(await before, { text: 'new' })
    t.strictSame(cache.get('a'), { text: 'new' })
  })

  t.test(`a load that was ${name} is repeated for its waiting callers`, async (t) => {
    const { cache, loads } = createBench()
    const before = cache.get('a')
    forget(cache)
    loads[0]?.end('old')
    await new Promise((resolve) => setImmediate(resolve))
    t.equal(loads.length, 2)
    forget(cache)
    loads[1]?.end('older than the second drop')
    await new Promise((resolve) => setImmediate(resolve))
    t.equal(loads.length, 3, 'as often as it is dropped')
    loads[2]?.end(undefined)
    t.equal(await before, undefined)
    t.equal(cache.get('a'), undefined)
    t.equal(loads.length, 3)
  })

  t.test(`a failing load that was ${name} does not fail the next load`, async (t) => {
    const { cache, loads } = createBench()
    const before = (async () => cache.get('a'))()
    forget(cache)
    const after = cache.get('a')
    loads[0]?.fail(new Error('away'))
    await Promise.allSettled([before])
    t.equal(cache.get('a'), after, 'it is still under way')
    loads[1]?.end('new')
    t.strictSame(await after, { text: 'new' })
  })
}

t.test('no caller gets a value older than a drop that preceded the call', async (t) => {
  // The store as it is: what a load reads is what is true when it begins.
  let truth = 0
  const waiting: (() => void)[] = []
  const { cache } = createBench({
    load: (): Promise<Value> => {
      const read = { text: String(truth) }
      return new Promise((resolve) => waiting.push(() => resolve(read)))
    },
  })
  const asked: { readonly got: unknown; readonly least: number }[] = []
  for (let step = 0; step < 2_000; step++) {
    const chance = Math.random()
    if (chance < 0.3) {
      truth++
      cache.reload('a')
    } else if (chance < 0.7) {
      asked.push({ got: cache.get('a'), least: truth })
    } else {
      waiting.splice(Math.floor(Math.random() * waiting.length), 1)[0]?.()
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  while (waiting.length > 0) {
    for (const end of waiting.splice(0)) end()
    await new Promise((resolve) => setImmediate(resolve))
  }
  const answers = await Promise.all(asked.map(async ({ got, least }) => ({ value: await got, least })))
  // The cast is sound: every load gives a value.
  const outdated = answers.filter(({ value, least }) => Number((value as Value).text) < least)
  t.strictSame(outdated, [])
  t.ok(answers.length > 100)
})
