import t from 'tap'
import { BodyRate } from '#http/server/slow-clients.ts'
import type { Expiring } from '#platform/deadline-sweep.ts'

/** A body that has to come with 500 B a second, and is waited for from now on. */
function watch({ expectsContinue = false } = {}) {
  const watched = new Set<Expiring>()
  const sender = {
    isHeadSent: false,
    slow: 0,
    onBodyTooSlow: () => {
      sender.slow++
    },
  }
  const bodies = {
    add: (item: Expiring) => void watched.add(item),
    remove: (item: Expiring) => void watched.delete(item),
  }
  const rate = new BodyRate({ bodyRateMin: 500, bodies }, sender)
  rate.begin(expectsContinue)
  rate.start()
  /** The next 10 s pass. */
  const pass = () => rate.expire(rate.deadline)
  return { rate, sender, watched, pass }
}

t.test('a body of 500 B/s over 10 s is accepted, of one byte less too slow', async (t) => {
  for (const [bytes, slow] of [
    [5_000, 0],
    [4_999, 1],
    [10, 1],
    [0, 1],
    [5_000_000, 0],
  ] as const) {
    const { rate, sender, pass, watched } = watch()
    rate.count(bytes)
    pass()
    t.strictSame([sender.slow, watched.size], [slow, 1 - slow], `${bytes} bytes`)
  }
})

t.test('the body rate is measured in separate spans of 10 s', async (t) => {
  const { rate, sender, pass } = watch()
  rate.count(1_000_000)
  pass()
  pass()
  t.equal(sender.slow, 1)
})

t.test('a body has 10 s before it can be too slow', async (t) => {
  const before = performance.now()
  const { rate } = watch()
  t.ok(rate.deadline >= before + 10_000)
})

t.test('a body that is not being read is never too slow', async (t) => {
  const { rate, watched } = watch()
  t.equal(watched.size, 1)
  rate.stop()
  t.equal(watched.size, 0)
})

t.test('a body rate is not measured before the client got its 100 Continue', async (t) => {
  const { rate, sender, pass } = watch({ expectsContinue: true })
  pass()
  t.equal(sender.slow, 0)
  rate.onContinue()
  pass()
  t.equal(sender.slow, 1)
})

t.test('the rate of a body begun without its 100 Continue is measured', async (t) => {
  const { rate, sender, pass } = watch({ expectsContinue: true })
  rate.count(1)
  pass()
  t.equal(sender.slow, 1)
})

t.test('a body may pause while its answer streams', async (t) => {
  const { sender, pass } = watch()
  sender.isHeadSent = true
  pass()
  t.equal(sender.slow, 0)
})
