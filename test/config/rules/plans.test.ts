import t from 'tap'
import { load, minimalConfig, problemMessages } from '../config-fixtures.ts'

const quota = { limit: 10_000, per: 'month' }
const rateLimit = { limit: 60, per: '1m' }

t.test('a plan has a quota, a rate limit or both', (t) => {
  const plans = {
    free: { quota, rateLimit },
    slow: { rateLimit },
    daily: { quota: { limit: 1, per: 'day' } },
  }
  const rate = { limit: 60, perMs: 60_000 }
  t.strictSame(load(t, { ...minimalConfig, plans }).plans, {
    free: { quota, rateLimit: rate },
    slow: { quota: undefined, rateLimit: rate },
    daily: { quota: { limit: 1, per: 'day' }, rateLimit: undefined },
  })
  t.end()
})

for (const [title, plan, problem] of [
  ['nothing to limit', { free: {} }, 'plans.free: limits nothing: give quota, rateLimit or both'],
  [
    'the name none',
    { none: { quota } },
    'plans.none: "none" is how commands say that an account has no plan',
  ],
  ['a limit of 0', { free: { quota: { ...quota, limit: 0 } } }, 'plans.free.quota.limit: must be'],
  [
    'a week',
    { free: { quota: { ...quota, per: 'week' } } },
    'plans.free.quota.per: must be one of day, month',
  ],
  ['a name with a space', { 'a b': { quota } }, 'plans'],
] as const) {
  t.test(`a plan with ${title} is reported`, (t) => {
    const [message = ''] = problemMessages(t, { ...minimalConfig, plans: plan })
    t.ok(message.startsWith(problem), message)
    t.end()
  })
}
