import t from 'tap'
import { createDirectory } from '#identity/cache/cached-directory.ts'
import { openInvalidation } from '#identity/cache/invalidation.ts'
import { StoreConnectionState } from '#identity/cache/store-connection.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { createAccount, day, now as startTime } from '../../store/samples.ts'
import { newSqlitePlace } from '../../store/sqlite/place.ts'

const startMs = 1_000_000
const maxStaleMs = 600_000

for (const [direction, stepMs] of [
  ['forward', day],
  ['back', -day],
] as const) {
  t.test(`maxStale is exact though the clock is set ${direction} by a day`, async (t) => {
    const store = await (await newSqlitePlace(t)).open()
    const clocks = { now: startMs, time: startTime }
    let isReachable = true
    const reachable = <Result>(work: Promise<Result>): Promise<Result> =>
      isReachable ? work : Promise.reject(new GatehouseError('store-unavailable'))
    const storeConnection = new StoreConnectionState()
    const both = { storeConnection, clock: () => clocks.time, monotonic: () => clocks.now }
    const directory = createDirectory({
      ...both,
      store: {
        findAccount: (id) => reachable(store.findAccount(id)),
        findSession: (id) => reachable(store.findSession(id)),
        findBlockedSubject: (id) => reachable(store.findBlockedSubject(id)),
      },
      entriesMax: 10,
      ttlMs: 60_000,
      negativeTtlMs: 5_000,
      maxStaleMs,
      tokenLifetimeMs: 600_000,
      clockToleranceMs: 0,
      requireSecondFactor: 'nobody',
      report: () => {},
      confirm: () => invalidation.confirm(),
      catchUp: () => invalidation.catchUp(),
      refresh: () => invalidation.refresh(),
    })
    const invalidation = openInvalidation({
      ...both,
      store: { ...store, readChanges: (after) => reachable(store.readChanges(after)) },
      pollMs: 86_400_000,
      idlePollMs: 86_400_000,
      apply: directory.apply,
      clear: directory.clear,
      onStoreAnswer: () => {},
      onDelay: () => {},
      onFault: (error) => t.error(error),
    })
    t.teardown(invalidation.close)
    const { id } = await createAccount(store)
    await invalidation.poll()
    const known = await directory.account(id)
    t.ok(known)

    isReachable = false
    clocks.now += 100
    clocks.time += 100
    await invalidation.poll()
    clocks.time += stepMs
    t.equal(directory.account(id), known)
    const isCurrent = () => directory.isCurrent(clocks.now, clocks.time)
    t.equal(isCurrent(), direction === 'back', 'set forward, the machine may have been suspended')
    await invalidation.poll()
    clocks.now += 400
    clocks.time += 400
    await invalidation.poll()
    t.equal(isCurrent(), true, 'nobody waits for longer')
    clocks.now = startMs + maxStaleMs - 1
    await invalidation.poll()
    t.equal(directory.account(id), known, 'up to the last millisecond')
    clocks.now++
    t.throws(() => directory.account(id), { code: 'store-unavailable' }, 'and no longer')
    clocks.time -= stepMs
    t.throws(() => directory.account(id), { code: 'store-unavailable' }, 'set right again or not')
  })
}
