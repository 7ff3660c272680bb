import t from 'tap'
import { collectGarbage } from '#runtime/v8.ts'

t.test('memory that nothing refers to is given back to the system', async (t) => {
  let garbage: unknown[] | undefined = Array.from({ length: 500_000 }, (_, index) => ({ index }))
  const before = process.memoryUsage().heapTotal
  t.equal(garbage.length, 500_000)
  garbage = undefined
  collectGarbage()
  t.ok(process.memoryUsage().heapTotal < before - 10_000_000)
  t.notOk('gc' in globalThis, 'and no other code can do it')
})
