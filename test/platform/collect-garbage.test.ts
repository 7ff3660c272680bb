import t from 'tap'
import { collectGarbage, collectGarbageWhenQuiet } from '../../src/platform/collect-garbage.ts'

t.test('memory that nothing refers to is given back to the system', async (t) => {
  let garbage: unknown[] | undefined = Array.from({ length: 500_000 }, (_, index) => ({ index }))
  const before = process.memoryUsage().heapTotal
  t.equal(garbage.length, 500_000)
  garbage = undefined
  collectGarbage()
  t.ok(process.memoryUsage().heapTotal < before - 10_000_000)
  t.notOk('gc' in globalThis, 'and no other code can do it')
})

t.test('garbage is collected once, when no request has begun lately and none is in flight', async (t) => {
  // It keeps no process running.
  const running = setInterval(() => {}, 1_000)
  t.teardown(() => clearInterval(running))
  const reads: { readonly begun: number; readonly inFlight: number }[] = [
    { begun: 0, inFlight: 0 },
    { begun: 1, inFlight: 0 },
    { begun: 2, inFlight: 1 },
    { begun: 2, inFlight: 1 },
    { begun: 2, inFlight: 0 },
    { begun: 2, inFlight: 0 },
  ]
  const collectedAfter: number[] = []
  let read = 0
  await collectGarbageWhenQuiet(
    () => reads[read++] ?? { begun: -1, inFlight: -1 },
    () => void collectedAfter.push(read),
  )
  t.strictSame(collectedAfter, [reads.length])
})
