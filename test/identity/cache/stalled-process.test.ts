import t, { type Test } from 'tap'
import { openInvalidation } from '#identity/cache/invalidation.ts'
import { isCurrent, StoreConnectionState } from '#identity/cache/store-connection.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { now as startTime } from '../../store/samples.ts'
import { newSqlitePlace } from '../../store/sqlite/place.ts'

const startMs = 1_000_000

/** The change log of a real store that a test can put out of reach, on two clocks that only the test moves. */
async function watch(t: Test) {
  const store = await (await newSqlitePlace(t)).open()
  const clocks = { now: startMs, time: startTime }
  const log = { isReachable: true, readings: 0, gate: Promise.resolve() }
  const storeConnection = new StoreConnectionState()
  const invalidation = openInvalidation({
    store: {
      ...store,
      readChanges: async (after) => {
        log.readings++
        await log.gate
        if (!log.isReachable) throw new GatehouseError('store-unavailable')
        return store.readChanges(after)
      },
    },
    storeConnection,
    pollMs: 86_400_000,
    idlePollMs: 86_400_000,
    clock: () => clocks.time,
    monotonic: () => clocks.now,
    apply: () => {},
    clear: () => {},
    onStoreAnswer: () => {},
    onDelay: () => {},
    onFault: (error) => t.error(error),
  })
  t.teardown(invalidation.close)
  const isCurrentNow = () => isCurrent(storeConnection, clocks.now, clocks.time)
  const pass = (ms: number) => {
    clocks.now += ms
    clocks.time += ms
  }
  return { ...invalidation, clocks, log, contact: storeConnection, isCurrentNow, pass }
}

t.test('cached data is trusted for exactly 450 ms after a change log read began', async (t) => {
  const { poll, isCurrentNow, pass } = await watch(t)
  await poll()
  pass(449)
  t.equal(isCurrentNow(), true)
  pass(1)
  t.equal(isCurrentNow(), false)
  pass(60_000)
  t.equal(isCurrentNow(), false)
  await poll()
  t.equal(isCurrentNow(), true)
})

t.test('a suspend that stopped the monotonic clock is noticed by the wall clock', async (t) => {
  const { poll, isCurrentNow, clocks } = await watch(t)
  await poll()
  clocks.time += 450
  t.equal(isCurrentNow(), false)
})

t.test('a clock set back extends no trust in cached data', async (t) => {
  const { poll, isCurrentNow, clocks } = await watch(t)
  await poll()
  clocks.time -= 3_600_000
  clocks.now += 450
  t.equal(isCurrentNow(), false)
})

t.test('catching up waits for a change log read that began after the request for it', async (t) => {
  const { poll, catchUp, log, pass, isCurrentNow } = await watch(t)
  await poll()
  const gate = Promise.withResolvers<void>()
  log.gate = gate.promise
  const early = poll()
  pass(5_000)
  const caughtUp = catchUp()
  gate.resolve()
  await early
  t.equal(isCurrentNow(), false, 'the reading that was under way may have seen the store before')
  await caughtUp
  t.equal(isCurrentNow(), true)
  t.equal(log.readings, 3)
})

t.test('concurrent callers share the change log reads that they wait for', async (t) => {
  const { poll, catchUp, log, pass } = await watch(t)
  await poll()
  pass(5_000)
  await Promise.all(Array.from({ length: 1_000 }, catchUp))
  t.equal(log.readings, 2)
})

t.test('a failed change log read after a stall is retried before the store counts as down', async (t) => {
  const { poll, catchUp, log, pass, isCurrentNow } = await watch(t)
  await poll()
  pass(5_000)
  log.isReachable = false
  const caughtUp = catchUp()
  await poll()
  t.equal(isCurrentNow(), false)
  log.isReachable = true
  await caughtUp
  t.equal(isCurrentNow(), true)
})

t.test('a store unreachable for 400 ms after a stall counts as an outage', async (t) => {
  const { poll, catchUp, log, pass, contact, isCurrentNow } = await watch(t)
  await poll()
  pass(5_000)
  log.isReachable = false
  const caughtUp = catchUp()
  await poll()
  pass(399)
  await poll()
  t.equal(isCurrentNow(), false)
  pass(1)
  await caughtUp
  t.equal(isCurrentNow(), true)
  t.equal(contact.isUp, false)
})

/** The store became unreachable while the process ran. */
async function watchOutage(t: Test) {
  const watched = await watch(t)
  const { poll, log, pass } = watched
  await poll()
  pass(350)
  log.isReachable = false
  await poll()
  return watched
}

t.test('an outage keeps no caller waiting, however long it is and readings take to fail', async (t) => {
  const { poll, log, pass, isCurrentNow } = await watchOutage(t)
  for (let count = 0; count < 1_000; count++) {
    // Beginning with one that failed at once: the next is due after 150 ms, and may fail after 250 ms, late by 50 ms.
    pass(count % 2 === 0 ? 150 : 50)
    const gate = Promise.withResolvers<void>()
    log.gate = gate.promise
    const failing = poll()
    t.ok(isCurrentNow())
    pass(299)
    t.ok(isCurrentNow())
    gate.resolve()
    await failing
  }
})

t.test('a process that stalled in an outage reads the change log before it uses its caches', async (t) => {
  const { poll, catchUp, log, pass, isCurrentNow } = await watchOutage(t)
  pass(5_000)
  t.equal(isCurrentNow(), false)
  const caughtUp = catchUp()
  await poll()
  t.equal(isCurrentNow(), false, 'its connection may not be open again yet')
  log.isReachable = true
  await caughtUp
  t.equal(isCurrentNow(), true)
})

t.test('a process that stalled in an outage keeps callers waiting for 400 ms at most', async (t) => {
  const { poll, catchUp, pass, isCurrentNow, contact } = await watchOutage(t)
  pass(5_000)
  const caughtUp = catchUp()
  pass(399)
  await poll()
  t.equal(isCurrentNow(), false)
  pass(1)
  await caughtUp
  t.equal(isCurrentNow(), true)
  t.equal(contact.isUp, false)
})

t.test('a reading that fails after a stall in an outage does not let callers pass', async (t) => {
  const { poll, log, pass, isCurrentNow, clocks } = await watchOutage(t)
  const gate = Promise.withResolvers<void>()
  log.gate = gate.promise
  const late = poll()
  clocks.time += 5_000
  gate.resolve()
  await late
  t.equal(isCurrentNow(), false)
  pass(399)
  await poll()
  t.equal(isCurrentNow(), false)
  pass(1)
  await poll()
  t.equal(isCurrentNow(), true)
})

/** An idle process has sent a reading 400 ms after the last, and the store does not respond. */
async function watchSilentStore(t: Test) {
  const watched = await watch(t)
  const { poll, log, pass } = watched
  await poll()
  pass(400)
  const gate = Promise.withResolvers<void>()
  log.gate = gate.promise
  log.isReachable = false
  const late = poll()
  const fail = async () => {
    gate.resolve()
    await late
  }
  return { ...watched, fail }
}

t.test('a reading that fails in time shows an outage, and keeps callers waiting no longer', async (t) => {
  const { catchUp, pass, isCurrentNow, contact, log, fail } = await watchSilentStore(t)
  pass(60)
  t.equal(isCurrentNow(), false)
  const caughtUp = catchUp()
  pass(190)
  await fail()
  await caughtUp
  t.equal(isCurrentNow(), true)
  t.equal(contact.isUp, false)
  t.equal(log.readings, 2, 'none was needed to make sure')
})

for (const [what, moveClocks] of Object.entries<(clocks: { now: number; time: number }) => void>({
  'both clocks': (clocks) => {
    clocks.now += 300
    clocks.time += 300
  },
  'the monotonic clock': (clocks) => {
    clocks.now += 300
  },
  'the wall clock': (clocks) => {
    clocks.time += 300
  },
})) {
  t.test(`a reading that fails too late by ${what} shows a stall, not an outage`, async (t) => {
    const { clocks, isCurrentNow, pass, poll, contact, fail } = await watchSilentStore(t)
    moveClocks(clocks)
    await fail()
    pass(150)
    t.equal(isCurrentNow(), false)
    pass(249)
    await poll()
    t.equal(isCurrentNow(), false, 'it tries for 400 ms')
    pass(1)
    await poll()
    t.equal(isCurrentNow(), true)
    t.equal(contact.isUp, false)
  })
}

t.test('callers wait for a stalled process although a reading is in flight', async (t) => {
  const { catchUp, pass, isCurrentNow, log, fail } = await watchSilentStore(t)
  pass(5_000)
  const caughtUp = catchUp()
  await fail()
  t.equal(isCurrentNow(), false)
  log.isReachable = true
  await caughtUp
  t.equal(isCurrentNow(), true)
})
