import t from 'tap'
import { type PassiveCheckOptions, TargetHealth } from '#http/upstream/health.ts'

const active = { unhealthyAfter: 3, healthyAfter: 2 }
const passive: PassiveCheckOptions = { maxFailures: 3, windowMs: 10_000, ejectForMs: 15_000 }

function watched(terms: {
  active?: { readonly unhealthyAfter: number; readonly healthyAfter: number }
  passive?: PassiveCheckOptions
}) {
  const changes: string[] = []
  const time = { now: 0 }
  const health = new TargetHealth({
    active: terms.active,
    passive: terms.passive,
    monotonic: () => time.now,
    onChange: (isEjected, reason) => changes.push(`${isEjected ? 'out' : 'in'}: ${reason}`),
  })
  return {
    health,
    changes,
    time,
    fail: (count: number) => {
      for (let failed = 0; failed < count; failed++)
        health.recordFailure('connect-failed: refused', undefined, false)
    },
  }
}

t.test('exactly the configured number of failed checks takes a target out, reported once', async (t) => {
  const { health, changes } = watched({ active })
  for (const check of ['a', 'b', undefined, 'a', 'b']) health.recordCheck(check)
  t.equal(health.isEjected, false, 'a success between them resets the count')
  health.recordCheck('status 500')
  t.equal(health.isEjected, true)
  for (let more = 0; more < 5; more++) health.recordCheck('status 500')
  t.strictSame(changes, ['out: 3 consecutive checks failed; last: status 500'])
})

t.test('exactly the configured number of passed checks brings a target back', async (t) => {
  const { health, changes } = watched({ active })
  for (let failed = 0; failed < 3; failed++) health.recordCheck('down')
  for (const check of [undefined, 'down', undefined]) health.recordCheck(check)
  t.equal(health.isEjected, true, 'a failure between them resets the count')
  health.recordCheck(undefined)
  t.equal(health.isEjected, false)
  t.equal(changes.at(-1), 'in: 2 consecutive checks succeeded')
  t.equal(changes.length, 2)
})

t.test('with limits of one a single check decides', async (t) => {
  const { health } = watched({ active: { unhealthyAfter: 1, healthyAfter: 1 } })
  health.recordCheck('down')
  t.equal(health.isEjected, true)
  health.recordCheck(undefined)
  t.equal(health.isEjected, false)
})

t.test('a target taken out by its checks is not tried by requests', async (t) => {
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

t.test('exactly the configured number of failures within the window ejects a target', async (t) => {
  const { health, changes, fail } = watched({ passive })
  fail(2)
  t.equal(health.isEjected, false)
  fail(1)
  t.equal(health.isEjected, true)
  fail(10)
  t.strictSame(changes, ['out: 3 requests failed within 10000 ms; last: connect-failed: refused'])
})

t.test('a failure counts for exactly the window', async (t) => {
  const { health, time, fail } = watched({ passive })
  fail(2)
  time.now = 10_000
  fail(1)
  t.equal(health.isEjected, false, 'the first two are over')
  time.now = 19_999
  fail(2)
  t.equal(health.isEjected, true, 'and the third is not')
})

t.test('an ejected target is tried after its time, by one request at a time', async (t) => {
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

t.test('an answered trial brings a target back with its failures forgotten', async (t) => {
  const { health, changes, time, fail } = watched({ passive })
  fail(3)
  time.now = 15_000
  health.beginTrial()
  health.recordTrialAnswer()
  t.equal(health.isEjected, false)
  t.equal(changes.at(-1), 'in: the trial request was answered')
  fail(2)
  t.equal(health.isEjected, false)
  fail(1)
  t.equal(health.isEjected, true)
})

t.test('a failed trial ejects a target for as long again, without another report', async (t) => {
  const { health, changes, time, fail } = watched({ passive })
  fail(3)
  time.now = 15_000
  health.beginTrial()
  time.now = 17_000
  health.recordFailure('connect-failed: refused', undefined, true)
  time.now = 31_999
  t.equal(health.isDueForTrial(), false)
  time.now = 32_000
  t.equal(health.isDueForTrial(), true)
  t.equal(changes.length, 1)
})

t.test('failures of requests in flight do not prolong an ejection', async (t) => {
  const { health, time, fail } = watched({ passive })
  fail(3)
  time.now = 14_000
  fail(20)
  time.now = 15_000
  t.equal(health.isDueForTrial(), true)
})

t.test('without health settings failures and checks change nothing', async (t) => {
  const unwatched = watched({})
  unwatched.fail(1_000)
  for (let failed = 0; failed < 1_000; failed++) unwatched.health.recordCheck('down')
  t.equal(unwatched.health.isEjected, false)
  t.strictSame(unwatched.changes, [])
})
