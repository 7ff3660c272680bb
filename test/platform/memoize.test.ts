import t from 'tap'
import { memoizeBounded, memoizeLast } from '#platform/memoize.ts'
import { memoryInUse } from '../gateway/forward/memory.ts'

function startCounting() {
  const asked: string[] = []
  const lengthOf = memoizeBounded({ entriesMax: 2_048, keyLengthMax: 64 }, (text) => {
    asked.push(text)
    return { length: text.length }
  })
  /** Whether the value of a text is computed, and not cached. */
  function isWorkedOut(text: string): boolean {
    const before = asked.length
    lengthOf(text)
    return asked.length > before
  }
  return { lengthOf, isWorkedOut }
}

t.test('memoize keeps a text of the greatest length, and computes longer ones each time', async (t) => {
  const { lengthOf, isWorkedOut } = startCounting()
  for (const [length, isRemembered] of [
    [64, true],
    [65, false],
    [16_384, false],
  ] as const) {
    const text = 'x'.repeat(length)
    t.strictSame(lengthOf(text), { length })
    t.equal(isWorkedOut(text), !isRemembered, `${length} characters`)
  }
})

t.test('memoize keeps as many texts as its limit, and starts over at one more', async (t) => {
  const { lengthOf, isWorkedOut } = startCounting()
  for (let count = 0; count < 2_048; count++) lengthOf(`name ${count}`)
  t.equal(isWorkedOut('name 0'), false, 'at the limit')
  lengthOf('one more')
  t.equal(isWorkedOut('one more'), false)
  t.equal(isWorkedOut('name 1'), true, 'one over')
})

t.test('memoize keeps nothing of 100,000 long texts', async (t) => {
  const { lengthOf } = startCounting()
  const forget = memoizeBounded({ entriesMax: 2_048, keyLengthMax: 64 }, (text) => ({ length: text.length }))
  lengthOf('x')
  const before = memoryInUse()
  for (let count = 0; count < 100_000; count++) forget(`${count}`.padEnd(1_000, 'x'))
  const growth = memoryInUse() - before
  t.ok(growth < 1_048_576, `${growth} bytes`)
  t.strictSame(forget('x'), { length: 1 })
})

t.test('the last value is computed again only once another key came between', async (t) => {
  const keys: string[] = []
  const lengthOf = memoizeLast((text: string) => {
    keys.push(text)
    return { length: text.length }
  })
  for (const text of ['a', 'a', 'bc', 'bc', 'a']) t.equal(lengthOf(text).length, text.length)
  t.strictSame(keys, ['a', 'bc', 'a'])
})
