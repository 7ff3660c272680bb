import t from 'tap'
import {
  type PasswordFailures,
  passwordFailuresMax,
  withAttempt,
  withoutAttempt,
} from '#store/portal-access.ts'

/** How many of so many attempts of a client are checked. @param client undefined = an unknown one */
function attempt(before: PasswordFailures | undefined, client: string | undefined, count = 1) {
  let failures = before
  let checked = 0
  for (let index = 0; index < count; index++) {
    const next = withAttempt(failures, client)
    if (next === undefined) continue
    failures = next
    checked++
  }
  return { failures, checked }
}

t.test('strangers have 80 attempts together', async (t) => {
  t.equal(attempt(undefined, undefined, 79).checked, 79)
  t.equal(attempt(undefined, undefined, 80).checked, 80, 'at the limit')
  t.equal(attempt(undefined, undefined, 81).checked, 80, 'one over')
  t.equal(attempt(undefined, undefined, 10_000).checked, 80, 'far over')
})

t.test('a known client has ten of its own, also where strangers have used up theirs', async (t) => {
  const { failures } = attempt(undefined, undefined, 80)
  for (const [count, checked] of [
    [10, 10],
    [11, 10],
    [1_000, 10],
  ] as const)
    t.equal(attempt(failures, 'phone', count).checked, checked, `${count} attempts`)
  const used = attempt(failures, 'phone', 10).failures
  t.match(used, { total: 90, ofClients: { phone: 10 } })
  t.equal(attempt(used, 'laptop', 11).checked, 10, 'each has its own')
})

t.test('an account has 100 attempts, however many clients it knows', async (t) => {
  let failures = attempt(undefined, undefined, 80).failures
  let checked = 80
  for (let client = 0; client < 5; client++) {
    const more = attempt(failures, `client ${client}`, 10)
    failures = more.failures
    checked += more.checked
  }
  t.equal(checked, passwordFailuresMax.total)
  t.equal(withAttempt(failures, 'another'), undefined)
})

t.test('of 32 known clients each counts by itself, a further one as a stranger', async (t) => {
  let failures: PasswordFailures | undefined
  for (let client = 0; client < 32; client++) failures = attempt(failures, `client ${client}`).failures
  t.equal(Object.keys(failures?.ofClients ?? {}).length, 32)
  const further = withAttempt(failures, 'one more')
  t.match(further, { total: 33 })
  t.strictSame(further?.ofClients, failures?.ofClients)
})

t.test('an attempt that was none is given back to whom it was counted for', async (t) => {
  const { failures } = attempt(undefined, 'phone', 2)
  t.strictSame(withoutAttempt(failures, 'phone'), { total: 1, ofClients: { phone: 1 } })
  t.strictSame(withoutAttempt(withoutAttempt(failures, 'phone'), 'phone'), { total: 0, ofClients: {} })
  t.strictSame(withoutAttempt(failures, undefined), { total: 1, ofClients: { phone: 2 } })
  t.strictSame(withoutAttempt(failures, 'laptop'), { total: 1, ofClients: { phone: 2 } })
  t.strictSame(withoutAttempt(undefined, 'phone'), { total: 0, ofClients: {} })
})
