import t from 'tap'
import { createBackoff } from '#runtime/fleet/worker-slot.ts'

t.test('a worker is replaced at once, one that keeps dying with growing delay', async (t) => {
  const nextDelayMs = createBackoff()
  t.strictSame(
    Array.from({ length: 10 }, () => nextDelayMs(0)),
    [0, 100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000],
  )
  t.equal(nextDelayMs(9_999), 10_000, 'it had not lived yet')
  t.strictSame([nextDelayMs(10_000), nextDelayMs(0)], [0, 100], 'what lived for ten seconds is sound')
})
