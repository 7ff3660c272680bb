import t, { type Test } from 'tap'
import { openInvalidation } from '#identity/cache/invalidation.ts'
import { isCurrent, StoreConnectionState } from '#identity/cache/store-connection.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { until } from '../../setup/net.ts'
import { startRedis } from '../../setup/redis.ts'
import { openStoreAt, optionsOf } from '../../store/redis/place.ts'
import { startTcpProxy } from '../../store/redis/tcp-proxy.ts'
import { createAccount, now as startTime } from '../../store/samples.ts'
import { newSqlitePlace } from '../../store/sqlite/place.ts'
import { never, openAppliedChanges } from './applied-changes.ts'
import { logged, openDirectory } from './directory-harness.ts'

const pollMs = 5

/** The change log of a real store, as one that announces changes, and the readings of it. */
async function watch(t: Test) {
  const store = await (await newSqlitePlace(t)).open()
  const state = { isListening: true, isReachable: true, readings: 0 }
  const storeConnection = new StoreConnectionState()
  const invalidation = openInvalidation({
    store: {
      onChange: store.onChange,
      isListening: () => state.isListening,
      readChanges: async (after) => {
        state.readings++
        if (!state.isReachable) throw new GatehouseError('store-unavailable')
        return store.readChanges(after)
      },
    },
    storeConnection,
    pollMs,
    idlePollMs: never,
    clock: Date.now,
    apply: () => {},
    clear: () => {},
    onStoreAnswer: () => {},
    onDelay: () => {},
    onFault: (error) => t.error(error),
  })
  t.teardown(invalidation.close)
  await until('it has read the log', () => storeConnection.isUp || undefined)
  return { ...invalidation, storeConnection, state }
}

/** Waits for so long that a process with the short interval has read the log some times. */
async function untilOthersHaveRead(t: Test): Promise<void> {
  const { state, refresh } = await watch(t)
  state.isListening = false
  refresh()
  const { readings } = state
  await until('another has read the log some times', () => state.readings >= readings + 10 || undefined)
}

t.test('while changes are announced the change log is not read at the short interval', async (t) => {
  const { state } = await watch(t)
  const { readings } = state
  await untilOthersHaveRead(t)
  t.equal(state.readings, readings)
})

t.test('a use of cached data makes the change log be read, once it was read some time ago', async (t) => {
  const { state, storeConnection, refresh } = await watch(t)
  t.equal(storeConnection.refreshAt, storeConnection.readAt + pollMs)
  const { readings } = state
  const { readAt } = storeConnection
  refresh()
  t.equal(storeConnection.refreshAt, Number.POSITIVE_INFINITY, 'further uses do not ask again')
  await until('it is read', () => storeConnection.readAt > readAt || undefined)
  t.equal(state.readings, readings + 1)
  t.equal(storeConnection.refreshAt, storeConnection.readAt + pollMs, 'later ones do')
})

t.test('without announcements the change log is read at the short interval', async (t) => {
  const { state, storeConnection, refresh } = await watch(t)
  state.isListening = false
  refresh()
  const { readings } = state
  await until('it is read again and again', () => state.readings >= readings + 10 || undefined)
  t.equal(storeConnection.refreshAt, Number.POSITIVE_INFINITY, 'uses need not ask for it')
})

t.test('an unreachable store is asked at the short interval', async (t) => {
  const { state, storeConnection, refresh } = await watch(t)
  state.isReachable = false
  refresh()
  const { readings } = state
  await until('it is asked again and again', () => state.readings >= readings + 10 || undefined)
  t.equal(storeConnection.isUp, false)
  state.isReachable = true
  await until('it is reachable', () => storeConnection.isUp || undefined)
})

t.test('a closed invalidation reads nothing, whoever asks for it', async (t) => {
  const { state, refresh, close } = await watch(t)
  close()
  const { readings } = state
  refresh()
  await untilOthersHaveRead(t)
  t.equal(state.readings, readings)
})

t.test('an idle instance finds a change whose announcement was lost', async (t) => {
  const server = await startRedis(t)
  const wire = await startTcpProxy(t, server.port)
  const store = await openStoreAt(t, optionsOf(wire), { listens: true })
  const writer = await openStoreAt(t, optionsOf(server))
  const { id } = await createAccount(writer)
  await until('it counts on announcements', () => store.isListening() || undefined)
  const applied = await openAppliedChanges(t, store, 400)
  t.equal(wire.cutMatching('subscribe'), 1)
  await writer.updateAccount(id, { role: 'Admin' })
  await until('it is found', () => applied.length > 0 || undefined)
  t.strictSame(applied, [{ kind: 'account', accountId: id }])
})

t.test('only a use of cached data from refreshAt on asks for a reading', async (t) => {
  let asked = 0
  const { directory, contact } = await openDirectory(t, { refresh: () => void asked++ })
  directory.apply(logged({ kind: 'signing-keys' }))
  contact.refreshAt = 1_000
  contact.currentUntil = 2_000
  t.equal(directory.isCurrent(999, startTime), true)
  t.equal(asked, 0)
  t.equal(directory.isCurrent(1_000, startTime), true, 'it does not wait for it')
  t.equal(asked, 1)
  t.equal(isCurrent(contact, 2_000, startTime), false)
})
