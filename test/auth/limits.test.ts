import t, { type Test } from 'tap'
import { takePortalAction, takeSessionStart } from '../../src/auth/limits.ts'
import { openRateLimiter } from '../../src/auth/rate-limiter.ts'
import { newSqlitePlace } from '../store/sqlite/place.ts'

const atOnce = 600

/** Counts on a clock that stands still until it is moved. */
async function start(t: Test) {
  const time = { ms: 1_000 }
  const store = await (await newSqlitePlace(t)).open()
  // The store counts on a clock of its own: while it is out of reach this process counts, in the same way.
  const limiter = openRateLimiter({ store, storeConnection: { isUp: false }, clock: () => time.ms })
  t.teardown(limiter.close)
  return { time, limiter }
}

/** What becomes of so many. @returns how many passed, and the errors of the others */
async function takeOften(count: number, take: () => Promise<void>) {
  const refusals: unknown[] = []
  for (let index = 0; index < count; index++) await take().catch((error: unknown) => refusals.push(error))
  return { passed: count - refusals.length, refusals }
}

for (const { what, takeOf, backAfterMs } of [
  { what: 'forms of the portal', takeOf: takePortalAction, backAfterMs: 6_000 },
  { what: 'starts of sessions', takeOf: takeSessionStart, backAfterMs: 100 },
]) {
  const refusal = {
    code: 'rate-limited',
    status: 429,
    rate: { limit: atOnce, remaining: 0, retryMs: backAfterMs },
  }

  t.test(`${what}: ${atOnce} at once pass, and none more`, async (t) => {
    const { limiter } = await start(t)
    const take = () => takeOf(limiter, 'ada')
    t.equal((await takeOften(atOnce, take)).passed, atOnce, 'at the limit')
    await t.rejects(take(), refusal, 'one over')
    await t.resolves(takeOf(limiter, 'bob'), 'another account has its own')
  })

  t.test(`${what}: the wait does not grow far over the limit`, async (t) => {
    const { time, limiter } = await start(t)
    const take = () => takeOf(limiter, 'ada')
    const { passed, refusals } = await takeOften(20 * atOnce, take)
    t.equal(passed, atOnce)
    t.match(refusals.at(-1), refusal)
    time.ms += backAfterMs - 1
    await t.rejects(take(), { code: 'rate-limited', rate: { retryMs: 1 } }, 'a millisecond too early')
    time.ms += 1
    t.equal((await takeOften(10, take)).passed, 1, 'one is free again')
    time.ms += atOnce * backAfterMs
    t.equal((await takeOften(2 * atOnce, take)).passed, atOnce, 'all are, after the whole span')
  })
}
