import t from 'tap'
import { createLocalRates } from '../../src/store/local-rates.ts'

/** Rates at a clock that is set by hand. */
function startRates() {
  let now = 1_800_000_000_000
  return {
    rates: createLocalRates(() => now),
    pass: (ms: number) => {
      now += ms
    },
  }
}

t.test('as many are allowed at once as the limit says', async (t) => {
  const { rates } = startRates()
  const rate = { limit: 3, perMs: 60_000 }
  t.strictSame(rates.take('a', rate), { isAllowed: true, remaining: 2, retryMs: 0, resetMs: 20_000 })
  t.strictSame(rates.take('a', rate), { isAllowed: true, remaining: 1, retryMs: 0, resetMs: 40_000 })
  t.strictSame(rates.take('a', rate), { isAllowed: true, remaining: 0, retryMs: 0, resetMs: 60_000 })
  for (const _ of [1, 2]) {
    t.strictSame(rates.take('a', rate), { isAllowed: false, remaining: 0, retryMs: 20_000, resetMs: 60_000 })
  }
})

t.test('one place is free after each part of the time, not a moment sooner', async (t) => {
  const { rates, pass } = startRates()
  const rate = { limit: 3, perMs: 60_000 }
  for (const _ of [1, 2, 3]) rates.take('a', rate)
  pass(19_999)
  t.match(rates.take('a', rate), { isAllowed: false, retryMs: 1 })
  pass(1)
  t.match(rates.take('a', rate), { isAllowed: true, remaining: 0 })
  t.match(rates.take('a', rate), { isAllowed: false, retryMs: 20_000 })
  pass(60_000)
  t.strictSame(rates.take('a', rate), { isAllowed: true, remaining: 2, retryMs: 0, resetMs: 20_000 })
})

t.test('a clock that is set back makes nobody wait for longer than told', async (t) => {
  const { rates, pass } = startRates()
  const rate = { limit: 3, perMs: 60_000 }
  for (const _ of [1, 2, 3]) rates.take('a', rate)
  pass(-3_600_000)
  t.match(rates.take('a', rate), { isAllowed: false, retryMs: 20_000 })
  pass(19_999)
  t.match(rates.take('a', rate), { isAllowed: false, retryMs: 1 })
  pass(1)
  t.match(rates.take('a', rate), { isAllowed: true, remaining: 0 })
})

t.test('who waits as long as told is allowed, whatever the rate', async (t) => {
  for (const limit of [1, 2, 3, 7, 10, 600, 999, 1_000_000]) {
    for (const perMs of [1, 10, 1_000, 60_000, 86_400_000]) {
      const { rates, pass } = startRates()
      const rate = { limit, perMs }
      for (let count = 0; count < Math.min(limit, 2_000); count++) {
        if (!rates.take('a', rate).isAllowed) t.fail(`${limit} per ${perMs}: the ${count}th is refused`)
      }
      if (limit > 2_000) continue
      const { isAllowed, retryMs } = rates.take('a', rate)
      t.equal(isAllowed, false, `${limit} per ${perMs} ms`)
      pass(retryMs)
      t.equal(rates.take('a', rate).isAllowed, true, `after ${retryMs} ms`)
    }
  }
})

t.test('over a long time as many are allowed as the rate says, and the limit at the beginning', async (t) => {
  const { rates, pass } = startRates()
  const rate = { limit: 7, perMs: 1_000 }
  let allowed = 0
  for (let ms = 0; ms < 100_000; ms++) {
    if (rates.take('a', rate).isAllowed) allowed++
    pass(1)
  }
  t.ok(allowed >= 7 * 100 + 6 - 1 && allowed <= 7 * 100 + 6 + 1, `${allowed}`)
})

t.test('a clock that goes back takes no place away, and gives none', async (t) => {
  const { rates, pass } = startRates()
  const rate = { limit: 2, perMs: 1_000 }
  rates.take('a', rate)
  rates.take('a', rate)
  pass(-5_000)
  t.equal(rates.take('a', rate).isAllowed, false)
  t.equal(rates.take('b', rate).isAllowed, true)
  pass(5_500)
  t.equal(rates.take('a', rate).isAllowed, true)
})

t.test('of very many subjects the one used longest ago is forgotten first', async (t) => {
  const { rates } = startRates()
  const rate = { limit: 1, perMs: 3_600_000 }
  rates.take('first', rate)
  rates.take('second', rate)
  for (let count = 0; count < 99_998; count++) rates.take(`subject ${count}`, rate)
  t.equal(rates.take('first', rate).isAllowed, false, 'nobody is forgotten yet')
  rates.take('one more', rate)
  t.equal(rates.take('first', rate).isAllowed, true)
  t.equal(rates.take('subject 99997', rate).isAllowed, false)
})
