import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { createLocalRates } from '#store/local-rates.ts'

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

t.test('a rate allows as many requests at once as its limit', async (t) => {
  const { rates } = startRates()
  const rate = { limit: 3, perMs: 60_000 }
  t.strictSame(rates.take('session start', 'a', rate), {
    isAllowed: true,
    remaining: 2,
    retryMs: 0,
    resetMs: 20_000,
  })
  t.strictSame(rates.take('session start', 'a', rate), {
    isAllowed: true,
    remaining: 1,
    retryMs: 0,
    resetMs: 40_000,
  })
  t.strictSame(rates.take('session start', 'a', rate), {
    isAllowed: true,
    remaining: 0,
    retryMs: 0,
    resetMs: 60_000,
  })
  for (const _ of [1, 2]) {
    t.strictSame(rates.take('session start', 'a', rate), {
      isAllowed: false,
      remaining: 0,
      retryMs: 20_000,
      resetMs: 60_000,
    })
  }
})

t.test('a rate frees one request after each share of its window, not sooner', async (t) => {
  const { rates, pass } = startRates()
  const rate = { limit: 3, perMs: 60_000 }
  for (const _ of [1, 2, 3]) rates.take('session start', 'a', rate)
  pass(19_999)
  t.match(rates.take('session start', 'a', rate), { isAllowed: false, retryMs: 1 })
  pass(1)
  t.match(rates.take('session start', 'a', rate), { isAllowed: true, remaining: 0 })
  t.match(rates.take('session start', 'a', rate), { isAllowed: false, retryMs: 20_000 })
  pass(60_000)
  t.strictSame(rates.take('session start', 'a', rate), {
    isAllowed: true,
    remaining: 2,
    retryMs: 0,
    resetMs: 20_000,
  })
})

t.test('a request is allowed after the announced wait, whatever the rate', async (t) => {
  for (const limit of [1, 2, 3, 7, 10, 600, 999, 1_000_000]) {
    for (const perMs of [1, 10, 1_000, 60_000, 86_400_000]) {
      const { rates, pass } = startRates()
      const rate = { limit, perMs }
      for (let count = 0; count < Math.min(limit, 2_000); count++) {
        if (!rates.take('session start', 'a', rate).isAllowed)
          t.fail(`${limit} per ${perMs}: the ${count}th is refused`)
      }
      if (limit > 2_000) continue
      const { isAllowed, retryMs } = rates.take('session start', 'a', rate)
      t.equal(isAllowed, false, `${limit} per ${perMs} ms`)
      pass(retryMs)
      t.equal(rates.take('session start', 'a', rate).isAllowed, true, `after ${retryMs} ms`)
    }
  }
})

t.test('a rate allows its average over time, and its limit as a burst at first', async (t) => {
  const { rates, pass } = startRates()
  const rate = { limit: 7, perMs: 1_000 }
  let allowed = 0
  for (let ms = 0; ms < 100_000; ms++) {
    if (rates.take('session start', 'a', rate).isAllowed) allowed++
    pass(1)
  }
  t.ok(allowed >= 7 * 100 + 6 - 1 && allowed <= 7 * 100 + 6 + 1, `${allowed}`)
})

t.test('a rate neither gains nor loses requests when the clock goes back', async (t) => {
  const { rates, pass } = startRates()
  const rate = { limit: 2, perMs: 1_000 }
  rates.take('session start', 'a', rate)
  rates.take('session start', 'a', rate)
  pass(-5_000)
  t.equal(rates.take('session start', 'a', rate).isAllowed, false)
  t.equal(rates.take('session start', 'b', rate).isAllowed, true)
  pass(5_500)
  t.equal(rates.take('session start', 'a', rate).isAllowed, true)
})

t.test(
  'at most 65,536 subjects are remembered, and one that has used up its limit is not pushed out',
  async (t) => {
    const { rates } = startRates()
    const rate = { limit: 10, perMs: 3_600_000 }
    for (let count = 0; count < 10; count++) rates.take('session start', 'spent', rate)
    for (let count = 1; count < 65_536; count++) rates.take('session start', `subject ${count}`, rate)
    t.equal(rates.size(), 65_536, 'at the limit')
    rates.take('session start', 'one more', rate)
    t.equal(rates.size(), 65_536, 'one over')
    for (let count = 0; count < 150_000; count++) rates.take('session start', `made up ${count}`, rate)
    t.equal(rates.size(), 65_536, 'far over')
    t.equal(rates.take('session start', 'spent', rate).isAllowed, false)
  },
)

t.test('subjects with nothing used up are dropped over time, by uses of others', async (t) => {
  const { rates, pass } = startRates()
  const brief = { limit: 1, perMs: 1_000 }
  const long = { limit: 1, perMs: 86_400_000 }
  for (let count = 0; count < 10_000; count++) rates.take('session start', `brief ${count}`, brief)
  for (let count = 0; count < 100; count++) rates.take('session start', `long ${count}`, long)
  const use = (times: number) => {
    for (let count = 0; count < times; count++) {
      rates.take('session start', 'another', { limit: 1e6, perMs: 1_000 })
      pass(10)
    }
  }
  use(199)
  t.equal(rates.size(), 10_101, 'none within a second of its last debt')
  pass(10)
  use(320)
  t.equal(rates.size(), 101)
  t.equal(rates.take('session start', 'long 7', long).isAllowed, false)
})

t.test('subjects with nothing used up are dropped by additions too, though no time passes', async (t) => {
  const { rates, pass } = startRates()
  const brief = { limit: 1e6, perMs: 1_000 }
  for (let count = 0; count < 10_000; count++) rates.take('session start', `brief ${count}`, brief)
  pass(1_002)
  for (let count = 0; count < 10_000; count++) rates.take('session start', `other ${count}`, brief)
  t.ok(rates.size() <= 10_050, `${rates.size()} are left`)
})

t.test('a subject that comes again within a second is kept, however little it owes', async (t) => {
  const { rates, pass } = startRates()
  const rate = { limit: 1e6, perMs: 1_000 }
  for (let time = 0; time < 100; time++) {
    for (let count = 0; count < 3_000; count++) rates.take(`route ${count} ip`, 'ada', rate)
    t.equal(rates.size(), 3_000)
    pass(999)
  }
})

t.test('a subject of any length costs as much memory as a short one, and counts as itself', async (t) => {
  const { rates } = startRates()
  const rate = { limit: 1, perMs: 3_600_000 }
  const long = (index: number) => `${'x'.repeat(60_000)}${index}`
  const before = heapMiB()
  for (let index = 0; index < 6_000; index++) rates.take('session start', long(index), rate)
  const grownMiB = heapMiB() - before
  t.ok(grownMiB < 8, `${grownMiB} MiB for 6,000 subjects of 60 kB`)
  t.equal(rates.take('session start', long(3), rate).isAllowed, false)
  t.equal(rates.take('session start', long(6_000), rate).isAllowed, true)
})

t.test('a rate among 65,536 subjects takes as long as among a few', async (t) => {
  const { rates } = startRates()
  const rate = { limit: 1e6, perMs: 3_600_000 }
  for (let count = 0; count < 100_000; count++) rates.take('session start', `subject ${count}`, rate)
  const startedAt = process.cpuUsage()
  for (let count = 0; count < 100_000; count++) rates.take('session start', 'the same', rate)
  for (let count = 0; count < 100_000; count++) rates.take('session start', `made up ${count}`, rate)
  const { user } = process.cpuUsage(startedAt)
  t.ok(user / 200_000 < 25, `${user / 200_000} us`)
})

/** What is in use, after a collection. */
function heapMiB(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 1_048_576
}
