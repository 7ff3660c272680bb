import t, { type Test } from 'tap'
import type { RouteRate } from '#identity/access.ts'
import { countFailure } from '#identity/limits/failures.ts'
import { openRateLimiter } from '#identity/limits/rate-limiter.ts'
import { takePortalAction, takeRate, takeSessionStart } from '#identity/limits/take-rate.ts'
import { newSqlitePlace } from '../../store/sqlite/place.ts'

const atOnce = 600

/** Counts on a clock that stands still until it is moved. */
async function start(t: Test) {
  const time = { ms: 1_000 }
  const store = await (await newSqlitePlace(t)).open()
  // The store counts on a clock of its own: while it is out of reach this process counts, in the same way.
  const limiter = openRateLimiter({
    store,
    storeConnection: { isUp: false },
    monotonic: () => time.ms,
    onStoreFailure: () => {},
  })
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

/** Wrong credentials: three a minute. @returns those of which addresses were too many */
async function failuresOf(t: Test, addresses: readonly string[]) {
  const { limiter } = await start(t)
  const refused: string[] = []
  for (const address of addresses) {
    const excess = await countFailure(limiter, { limit: 3, perMs: 60_000 }, { address, isMalformed: false })
    if (excess) refused.push(`${address} ${excess.code}`)
  }
  return refused
}

t.test('wrong credentials are counted by networks: an IPv6 host has 2^64 addresses', async (t) => {
  const third = ['2001:db8::1', '2001:db8::2', '2001:db8::ffff:1']
  t.strictSame(await failuresOf(t, third), [], 'at the limit')
  const fourth = ['2001:db8::1', '2001:db8::2', '2001:db8::3', '2001:db8::4', '2001:db8:0:1::4', '192.0.2.4']
  t.strictSame(await failuresOf(t, fourth), ['2001:db8::4 too-many-failures'], 'one over')
  const ofIpv4 = ['192.0.2.1', '::ffff:192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2']
  t.strictSame(await failuresOf(t, ofIpv4), ['192.0.2.1 too-many-failures'])
})

t.test('wrong credentials are counted over all instances, malformed ones by each alone', async (t) => {
  // What instances have in common is the store, which counts here in this process.
  const store = await (await newSqlitePlace(t)).open()
  const limiters = [1, 2].map(() => {
    const limiter = openRateLimiter({
      store,
      storeConnection: { isUp: true },
      monotonic: () => 1_000,
      onStoreFailure: () => {},
    })
    t.teardown(limiter.close)
    return limiter
  })
  const fail = async (instance: number, isMalformed: boolean, address: string) => {
    const limiter = limiters[instance]
    if (!limiter) throw new Error('no such instance')
    // So slow that none is free again before the end of the test.
    const excess = await countFailure(limiter, { limit: 3, perMs: 86_400_000 }, { address, isMalformed })
    return excess?.code
  }
  t.strictSame(
    [
      await fail(0, false, '192.0.2.1'),
      await fail(1, false, '192.0.2.1'),
      await fail(0, false, '192.0.2.1'),
      await fail(1, false, '192.0.2.1'),
    ],
    [undefined, undefined, undefined, 'too-many-failures'],
  )
  for (let times = 0; times < 3; times++) t.equal(await fail(0, true, '192.0.2.2'), undefined)
  t.equal(await fail(0, true, '192.0.2.2'), 'too-many-failures')
  t.equal(await fail(1, true, '192.0.2.2'), undefined, 'the store is not asked')
})

t.test('a rate counts by the account, its key or the address, as the route says', async (t) => {
  const ada = {
    accountId: 'ada',
    role: 'User',
    scheme: 'secretKey',
    sessionId: undefined,
    key: 'ci',
  } as const
  const rest = {
    scopes: [],
    addresses: [],
    plan: undefined,
    quota: undefined,
    profile: undefined,
    issuer: undefined,
  }
  const principal = { ...ada, ...rest }
  const here = { principal, address: '192.0.2.1' }
  const elsewhere = { principal, address: '198.51.100.1' }
  const otherKey = { principal: { ...principal, key: 'default' }, address: '192.0.2.1' }
  const inOutage = { principal: { ...principal, key: undefined }, address: '192.0.2.1' }
  const other = { principal: { ...principal, accountId: 'bob' }, address: '192.0.2.1' }
  const nobody = { principal: undefined, address: '192.0.2.1' }
  for (const [by, shared, apart] of [
    ['account', [elsewhere, otherKey, inOutage], [other, nobody]],
    ['key', [elsewhere], [otherKey, inOutage, other, nobody]],
    ['ip', [otherKey, inOutage, other, nobody], [elsewhere]],
  ] as const) {
    const { limiter } = await start(t)
    const purposes = { account: 'route r account', key: 'route r key', ip: 'route r ip' } as const
    const rate: RouteRate = { limit: 1, perMs: 60_000, by, purpose: purposes[by], recentPlace: 0, purposes }
    const take = async (caller: Parameters<typeof takeRate>[2]) =>
      (await takeRate(limiter, rate, caller))?.code
    t.equal(await take(here), undefined, by)
    for (const caller of shared) t.equal(await take(caller), 'rate-limited', by)
    for (const caller of apart) t.equal(await take(caller), undefined, by)
  }
})
