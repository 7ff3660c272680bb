import t from 'tap'
import { type PassiveCheckOptions, TargetHealth } from '../../src/upstream/health.ts'

const active = { unhealthyAfter: 3, healthyAfter: 2 }
const passive: PassiveCheckOptions = { maxFailures: 3, windowMs: 10_000, ejectForMs: 15_000 }

function watched(terms: {
  active?: { readonly unhealthyAfter: number; readonly healthyAfter: number }
  passive?: PassiveCheckOptions
}) {
  const told: string[] = []
  const time = { now: 0 }
  const health = new TargetHealth({
    active: terms.active,
    passive: terms.passive,
    clock: () => time.now,
    onChange: (isEjected, reason) => told.push(`${isEjected ? 'out' : 'in'}: ${reason}`),
  })
  return {
    health,
    told,
    time,
    fail: (count: number) => {
      for (let failed = 0; failed < count; failed++)
        health.recordFailure('connect-failed: refused', undefined, false)
    },
  }
}

t.test(
  'as many failed checks in a row take a target out as are told, no fewer, and it is told once',
  async (t) => {
    const { health, told } = watched({ active })
    for (const check of ['a', 'b', undefined, 'a', 'b']) health.recordCheck(check)
    t.equal(health.isEjected, false, 'a success between them begins anew')
    health.recordCheck('status 500')
    t.equal(health.isEjected, true)
    for (let more = 0; more < 5; more++) health.recordCheck('status 500')
    t.strictSame(told, ['out: 3 consecutive checks failed; last: status 500'])
  },
)

t.test('as many good checks in a row bring it back, no fewer', async (t) => {
  const { health, told } = watched({ active })
  for (let failed = 0; failed < 3; failed++) health.recordCheck('down')
  for (const check of [undefined, 'down', undefined]) health.recordCheck(check)
  t.equal(health.isEjected, true, 'a failure between them begins anew')
  health.recordCheck(undefined)
  t.equal(health.isEjected, false)
  t.equal(told.at(-1), 'in: 2 consecutive checks succeeded')
  t.equal(told.length, 2)
})

t.test('at the limits of one a single check decides', async (t) => {
  const { health } = watched({ active: { unhealthyAfter: 1, healthyAfter: 1 } })
  health.recordCheck('down')
  t.equal(health.isEjected, true)
  health.recordCheck(undefined)
  t.equal(health.isEjected, false)
})

t.test('a target that the checks took out is not tried by requests', async (t) => {
  const { health, time, fail } = watched({ active, passive })
  fail(3)
  for (let failed = 0; failed < 3; failed++) health.recordCheck('down')
  time.now = 1_000_000
  t.equal(health.isDueForTrial(), false)
  health.recordTrialAnswer()
  t.equal(health.isEjected, true)
  health.recordCheck(undefined)
  health.recordCheck(undefined)
  t.equal(health.isEjected, false, 'what the checks bring back was not ejected any more')
})

t.test('as many failures within the window eject a target as are told, no fewer', async (t) => {
  const { health, told, fail } = watched({ passive })
  fail(2)
  t.equal(health.isEjected, false)
  fail(1)
  t.equal(health.isEjected, true)
  fail(10)
  t.strictSame(told, ['out: 3 requests failed within 10000 ms; last: connect-failed: refused'])
})

t.test('a failure counts for just the window', async (t) => {
  const { health, time, fail } = watched({ passive })
  fail(2)
  time.now = 10_000
  fail(1)
  t.equal(health.isEjected, false, 'the first two are over')
  time.now = 19_999
  fail(2)
  t.equal(health.isEjected, true, 'and the third is not')
})

t.test('an ejected target is tried after its time, not before, and by one request at a time', async (t) => {
  const { health, time, fail } = watched({ passive })
  fail(3)
  time.now = 14_999
  t.equal(health.isDueForTrial(), false)
  time.now = 15_000
  t.equal(health.isDueForTrial(), true)
  health.beginTrial()
  t.equal(health.isDueForTrial(), false)
  t.equal(health.isEjected, true)
  time.now = 30_000
  t.equal(health.isDueForTrial(), true, 'where nothing came of the first another tries it')
})

t.test('an answer to the trial brings it back with nothing counted', async (t) => {
  const { health, told, time, fail } = watched({ passive })
  fail(3)
  time.now = 15_000
  health.beginTrial()
  health.recordTrialAnswer()
  t.equal(health.isEjected, false)
  t.equal(told.at(-1), 'in: the trial request was answered')
  fail(2)
  t.equal(health.isEjected, false)
  fail(1)
  t.equal(health.isEjected, true)
})

t.test('a trial that fails ejects it for as long again, and says nothing new', async (t) => {
  const { health, told, time, fail } = watched({ passive })
  fail(3)
  time.now = 15_000
  health.beginTrial()
  time.now = 17_000
  health.recordFailure('connect-failed: refused', undefined, true)
  time.now = 31_999
  t.equal(health.isDueForTrial(), false)
  time.now = 32_000
  t.equal(health.isDueForTrial(), true)
  t.equal(told.length, 1)
})

t.test('requests that were under way when it was ejected do not prolong it', async (t) => {
  const { health, time, fail } = watched({ passive })
  fail(3)
  time.now = 14_000
  fail(20)
  time.now = 15_000
  t.equal(health.isDueForTrial(), true)
})

t.test('what is not configured changes nothing', async (t) => {
  const unwatched = watched({})
  unwatched.fail(1_000)
  for (let failed = 0; failed < 1_000; failed++) unwatched.health.recordCheck('down')
  t.equal(unwatched.health.isEjected, false)
  t.strictSame(unwatched.told, [])
})
