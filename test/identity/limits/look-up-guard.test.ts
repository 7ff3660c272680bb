import t, { type Test } from 'tap'
import { countFailure } from '#identity/limits/failures.ts'
import { createLookUpGuard } from '#identity/limits/look-up-guard.ts'
import { openRateLimiter } from '#identity/limits/rate-limiter.ts'
import { newSqlitePlace } from '../../store/sqlite/place.ts'

const limit = 3
const address = '2001:db8::1'
/** Of the same network. */
const beside = '2001:db8::2'

async function start(t: Test) {
  const store = await (await newSqlitePlace(t)).open()
  const time = { ms: 1_000 }
  const limiter = openRateLimiter({
    store,
    storeConnection: { isUp: false },
    monotonic: () => time.ms,
    onStoreFailure: () => {},
  })
  t.teardown(limiter.close)
  const failures = { limit, perMs: limit * 1_000 }
  const guard = createLookUpGuard(limiter, failures)
  /** A key that was looked up is decided about. */
  const decide = async (isWrong: boolean, from = address) => {
    if (isWrong) await countFailure(limiter, failures, { address: from, isMalformed: false })
    guard.release(from, false)
  }
  return { guard, decide, time }
}

/** Whether a key may be looked up; `waiting` where that is not known yet. */
async function stateOf<Admission>(admission: Admission | Promise<Admission>): Promise<Admission | 'waiting'> {
  return Promise.race([admission, new Promise<'waiting'>((resolve) => setImmediate(resolve, 'waiting'))])
}

t.test('a network has as many look-ups at a time as it may still send wrong keys', async (t) => {
  const { guard, decide } = await start(t)
  for (const from of [address, beside, address]) t.equal(guard.admit(from, 'secretKey'), true, 'at the limit')
  const further = [guard.admit(beside, 'secretKey'), guard.admit(address, 'secretKey')] as const
  for (const each of further) t.equal(await stateOf(each), 'waiting', 'one over')
  t.equal(guard.admit('2001:db8:0:1::1', 'secretKey'), true, 'another network has its own')
  await decide(false)
  t.strictSame([await stateOf(further[0]), await stateOf(further[1])], [true, 'waiting'])
  await decide(false, beside)
  t.equal(await stateOf(further[1]), true)
})

t.test('a wrong key leaves less for those that wait, and the last one nothing', async (t) => {
  const { guard, decide } = await start(t)
  for (let count = 0; count < limit; count++) t.equal(guard.admit(address, 'secretKey'), true)
  const further = [guard.admit(address, 'secretKey'), guard.admit(beside, 'secretKey')] as const
  await decide(true)
  await decide(true)
  t.equal(await stateOf(further[0]), 'waiting', 'one is under way, and one may still be wrong')
  await decide(true)
  for (const each of further) t.equal(await stateOf(each), false)
  for (let count = 0; count < 100; count++) t.equal(guard.admit(beside, 'secretKey'), false)
})

t.test('a network that may send wrong keys again has look-ups again', async (t) => {
  const { guard, decide, time } = await start(t)
  for (let count = 0; count < limit; count++) {
    t.equal(guard.admit(address, 'secretKey'), true)
    await decide(true)
  }
  t.equal(guard.admit(address, 'secretKey'), false)
  time.ms += 900
  t.equal(guard.admit(address, 'secretKey'), false)
  time.ms += 100
  t.equal(guard.admit(address, 'secretKey'), true)
  t.equal(await stateOf(guard.admit(address, 'secretKey')), 'waiting')
})
