import t from 'tap'
import { createBench, type Value } from './loading-cache-harness.ts'

t.test('what was dropped is loaded anew', async (t) => {
  const { cache, loads, getLoaded } = createBench()
  await getLoaded('a', 'old')
  await getLoaded('b', 'kept')
  await getLoaded('c', undefined)
  cache.drop('a')
  cache.drop('c')
  cache.drop('never known')
  t.strictSame(await getLoaded('a', 'new'), { text: 'new' })
  t.strictSame(await getLoaded('c', 'made'), { text: 'made' }, 'also what did not exist')
  t.strictSame(cache.get('b'), { text: 'kept' })
  t.equal(loads.length, 5)
})

t.test('all is loaded anew after a clear', async (t) => {
  const { cache, loads, getLoaded } = createBench()
  await getLoaded('a', 'old')
  await getLoaded('c', undefined)
  cache.clear()
  t.strictSame(await getLoaded('a', 'new'), { text: 'new' })
  t.strictSame(await getLoaded('c', 'made'), { text: 'made' })
  t.equal(loads.length, 4)
})

for (const [name, forget] of [
  ['dropped', (cache: { drop(key: string): void }) => cache.drop('a')],
  ['cleared', (cache: { clear(): void }) => cache.clear()],
] as const) {
  t.test(`what was loading when it was ${name} is handed to nobody and not kept`, async (t) => {
    const { cache, loads } = createBench()
    const before = [cache.get('a'), cache.get('a')]
    forget(cache)
    const after = cache.get('a')
    t.equal(loads.length, 2, 'whoever asks after it asks the store')
    loads[0]?.end('old')
    loads[1]?.end('new')
    for (const got of [...before, after]) t.strictSame(await got, { text: 'new' })
    t.strictSame(cache.get('a'), { text: 'new' })
    t.equal(loads.length, 2, 'those who waited share the second load')
  })

  t.test(`a load that was ${name} and ends last changes nothing`, async (t) => {
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

  t.test(`what was loading when it was ${name} is asked for again, for those who wait`, async (t) => {
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

  t.test(`a load that was ${name} and fails is no failure of the next`, async (t) => {
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

t.test('nobody ever sees what was true before a drop that they came after', async (t) => {
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
      cache.drop('a')
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
