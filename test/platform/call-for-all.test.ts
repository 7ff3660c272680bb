import t from 'tap'
import { callForAll } from '#platform/call-for-all.ts'

t.test('all items have their call, and the first error is thrown', async (t) => {
  const called: string[] = []
  function call(item: string, index: number): void {
    called.push(`${item}${index}`)
    if (item !== 'a') throw new Error(item)
  }
  t.throws(() => callForAll(['a', 'b', 'c', 'a'], call), { message: 'b' })
  t.strictSame(called, ['a0', 'b1', 'c2', 'a3'])
  callForAll(['a', 'a'], call)
  callForAll([], call)
  t.equal(called.length, 6)
})

t.test('undefined can be thrown too', async (t) => {
  let isThrown = false
  try {
    callForAll([1], () => {
      throw undefined
    })
  } catch {
    isThrown = true
  }
  t.ok(isThrown)
})
