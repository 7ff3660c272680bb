import t from 'tap'
import { createFleetMemory } from '#runtime/fleet/fleet-memory.ts'

const roomy = { entriesMax: 100, bytesMax: 10_000 }

/** A memory that two workers watch from time 1 on. */
function start(options = roomy) {
  const memory = createFleetMemory(options)
  memory.remember(1, [{ kind: 'watch', at: 1 }])
  memory.remember(2, [{ kind: 'watch', at: 2 }])
  const learn = (key: string, at: number, value: unknown = key) =>
    memory.remember(1, [{ kind: 'learn', key, value, at }])
  const forget = (key: string, at: number) => memory.remember(2, [{ kind: 'forget', key, at }])
  const known = (...keys: readonly string[]) => memory.recall(keys)
  return { ...memory, learn, forget, known }
}

t.test('a value looked up by one worker is available to all', async (t) => {
  const { learn, known } = start()
  learn('a', 10, { role: 'User' })
  t.strictSame(known('a', 'b'), [{ role: 'User' }, undefined])
})

t.test('a changed value is not served, even if an older look-up arrives later', async (t) => {
  const { learn, forget, known } = start()
  learn('a', 10)
  forget('a', 20)
  t.strictSame(known('a'), [undefined])
  learn('a', 20)
  t.strictSame(known('a'), [undefined], 'begun before the change was seen')
  learn('a', 21)
  t.strictSame(known('a'), ['a'])
})

t.test('a change beyond the 10,000 remembered still outdates earlier look-ups', async (t) => {
  const { learn, forget, known } = start()
  forget('first', 10)
  for (let index = 0; index < 10_000; index++) forget(`other ${index}`, 11)
  learn('first', 10)
  t.strictSame(known('first'), [undefined])
  learn('first', 12)
  t.strictSame(known('first'), ['first'])
})

t.test("a gap in the change log empties the fleet's memory", async (t) => {
  const { learn, known, remember } = start()
  learn('a', 10)
  remember(2, [{ kind: 'clear', at: 20 }])
  learn('b', 15)
  t.strictSame(known('a', 'b'), [undefined, undefined])
})

t.test("the fleet's memory survives a replaced worker while another sees the changes", async (t) => {
  const { learn, known, remember, removeWorker } = start()
  learn('a', 10)
  removeWorker(1)
  remember(1, [{ kind: 'watch', at: 20 }])
  t.strictSame(known('a'), ['a'])
  removeWorker(1)
  removeWorker(2)
  t.strictSame(known('a'), ['a'], 'the store may be out of reach of all of them')
  remember(1, [{ kind: 'watch', at: 30 }])
  t.strictSame(known('a'), [undefined], 'nobody saw what changed meanwhile')
})

t.test("the fleet's memory is bounded in entries, evicting the oldest", async (t) => {
  const { learn, known } = start({ ...roomy, entriesMax: 3 })
  for (const key of ['a', 'b', 'c']) learn(key, 10)
  t.strictSame(known('a'), ['a'])
  learn('d', 10)
  t.strictSame(known('a', 'b', 'd'), [undefined, 'b', 'd'])
})

t.test("the fleet's memory takes another size while it is in use", async (t) => {
  const { learn, known, resize } = start({ ...roomy, entriesMax: 2 })
  for (const key of ['a', 'b']) learn(key, 10)
  resize(3)
  learn('c', 10)
  t.strictSame(known('a', 'b', 'c'), ['a', 'b', 'c'])
  resize(1)
  learn('d', 10)
  t.strictSame(known('a', 'b', 'c', 'd'), [undefined, undefined, undefined, 'd'])
})

t.test("the fleet's memory is bounded in bytes", async (t) => {
  const text = 'x'.repeat(97)
  const { learn, known } = start({ ...roomy, bytesMax: 300 })
  for (const key of ['a', 'b', 'c']) learn(key, 10, text)
  t.strictSame(known('a', 'b', 'c'), [text, text, text])
  learn('c', 11, `${text}y`)
  t.strictSame(known('a', 'b'), [undefined, text])
  learn('d', 11, 'x'.repeat(100_000))
  t.strictSame(known('b', 'c', 'd'), [undefined, undefined, undefined])
})
