import t, { type Test } from 'tap'
import { openInvalidation } from '#identity/cache/invalidation.ts'
import { StoreConnectionState } from '#identity/cache/store-connection.ts'
import type { Change, ChangeStore } from '#store/changes.ts'
import { until } from '../../setup/net.ts'
import { startRedis } from '../../setup/redis.ts'
import type { Place } from '../../store/place.ts'
import { openInspector, openStoreAt, optionsOf } from '../../store/redis/place.ts'
import { createAccount, newSigningKey, startSession } from '../../store/samples.ts'
import { newSqlitePlace } from '../../store/sqlite/place.ts'

/** Longer than any test: what is read is read because the test says so. */
const never = 86_400_000

function watch(t: Test, store: ChangeStore, pollMs = never) {
  const applied: (Change | 'all')[] = []
  const contacts: boolean[] = []
  const delays: number[] = []
  const faults: unknown[] = []
  /** What fails when a change is applied. */
  const broken = { apply: false, clear: false }
  const storeConnection = new StoreConnectionState()
  /** Whether the store was taken to be there when a change was applied. */
  const seen: boolean[] = []
  const invalidation = openInvalidation({
    store,
    storeConnection,
    pollMs,
    idlePollMs: pollMs,
    clock: Date.now,
    apply: ({ change }) => {
      if (broken.apply) throw new TypeError('apply')
      seen.push(storeConnection.isUp)
      applied.push(change)
    },
    clear: () => {
      if (broken.clear) throw new TypeError('clear')
      applied.push('all')
    },
    onStoreAnswer: (error) => contacts.push(error === undefined),
    onDelay: (delayMs) => delays.push(delayMs),
    onFault: (error) => faults.push(error),
  })
  t.teardown(invalidation.close)
  const take = () => applied.splice(0)
  return { ...invalidation, contact: storeConnection, seen, delays, applied, contacts, faults, broken, take }
}

const places: Record<string, (t: Test) => Promise<Place>> = {
  SQLite: newSqlitePlace,
  Redis: async (t) => {
    const server = await startRedis(t)
    return { open: () => openStoreAt(t, optionsOf(server, { commandTimeoutMs: 250 })) }
  },
}

for (const [name, newPlace] of Object.entries(places)) {
  t.test(`a change by this process on ${name} is dropped from the cache before it is answered`, async (t) => {
    const store = await (await newPlace(t)).open()
    const { poll, applied } = watch(t, store)
    await poll()
    const { id } = await createAccount(store)
    applied.length = 0
    await store.updateAccount(id, { role: 'Admin' })
    t.strictSame(applied, [{ kind: 'account', accountId: id }])
  })

  t.test(`a change by another process on ${name} is dropped at the next change log read`, async (t) => {
    const place = await newPlace(t)
    const [store, other] = [await place.open(), await place.open()]
    const account = await createAccount(store)
    const session = await startSession(store, account)
    const { poll, take } = watch(t, store)
    await poll()
    t.strictSame(take(), ['all'], 'first: what was looked up before cannot be trusted')
    await poll()
    t.strictSame(take(), [])
    await other.endSession(session.id, 'revoked')
    await other.updateAccount(account.id, { role: 'Admin' })
    await other.addSigningKey(newSigningKey())
    t.strictSame(take(), [], 'not before')
    await poll()
    t.strictSame(take(), [
      { kind: 'session', sessionId: session.id },
      { kind: 'account', accountId: account.id },
      { kind: 'signing-keys' },
    ])
    await poll()
    t.strictSame(take(), [], 'once')
  })

  t.test(`the change log of ${name} is polled until it is closed`, async (t) => {
    const place = await newPlace(t)
    const [store, other] = [await place.open(), await place.open()]
    const { take, close, contacts } = watch(t, store, 5)
    await until('it has begun', () => take().includes('all') || undefined)
    await other.addSigningKey(newSigningKey())
    await until('it was heard of', () => take().length === 1 || undefined)
    close()
    const before = contacts.length
    const still = watch(t, other, 5)
    await until('another has read it some times', () => still.contacts.length >= 5 || undefined)
    t.ok(contacts.length <= before + 1, 'but for one that was under way')
  })
}

t.test('concurrent confirmations share one change log read', async (t) => {
  const store = await (await newSqlitePlace(t)).open()
  const { poll, contacts, take } = watch(t, store)
  await Promise.all(Array.from({ length: 20 }, poll))
  t.strictSame(contacts, [true])
  t.strictSame(take(), ['all'])
})

t.test('a gap in the change log clears the cache', async (t) => {
  const server = await startRedis(t)
  const inspector = openInspector(t, server)
  const store = await openStoreAt(t, optionsOf(server))
  const other = await openStoreAt(t, optionsOf(server))
  const { poll, take } = watch(t, store)
  await poll()
  take()
  for (let change = 0; change < 3; change++) await other.addSigningKey(newSigningKey())
  await inspector.xtrim('gh:{account}:log', 'MAXLEN', 1)
  await poll()
  t.strictSame(take(), ['all'])
  await other.addSigningKey(newSigningKey())
  await poll()
  t.strictSame(take(), [{ kind: 'signing-keys' }], 'later changes are named again')
  await inspector.flushall()
  await poll()
  t.strictSame(take(), [], 'a store that has lost its data is out of reach')
  const stranger = await openStoreAt(t, optionsOf(server))
  await stranger.addSigningKey(newSigningKey())
  await poll()
  t.strictSame(take(), [], 'nor is another store taken for it')
})

t.test('a change that replaces one lost in a failover is applied', async (t) => {
  const server = await startRedis(t)
  const inspector = openInspector(t, server)
  const store = await openStoreAt(t, optionsOf(server), { listens: true })
  const other = await openStoreAt(t, optionsOf(server))
  const { poll, take } = watch(t, store)
  await poll()
  take()
  // The old master announced it, the new one has never received it.
  await until('it is heard of', async () => {
    await inspector.publish('gh:{account}:changes', `1 ${Date.now()} session lost`)
    return take().length > 0 || undefined
  })
  await other.updateAccount((await createAccount(other)).id, { role: 'Admin' })
  await poll()
  t.match(take(), [{ kind: 'account' }])
})

t.test('an outage is reported, and no change is missed afterwards', async (t) => {
  const server = await startRedis(t, ['--appendonly', 'yes', '--appendfsync', 'always'])
  const store = await openStoreAt(t, optionsOf(server, { commandTimeoutMs: 250 }))
  const other = await openStoreAt(t, optionsOf(server))
  const { poll, take, contacts } = watch(t, store)
  await poll()
  take()
  await other.addSigningKey(newSigningKey())
  await server.stop('SIGKILL')
  await poll()
  t.strictSame(take(), [])
  t.strictSame(contacts, [true, false])
  await server.start()
  await until('it answers again', async () => {
    await poll()
    return contacts.at(-1) || undefined
  })
  t.strictSame(take(), [{ kind: 'signing-keys' }])
})

for (const [name, newPlace] of Object.entries(places)) {
  t.test(`a confirmation on ${name} has applied all earlier changes`, async (t) => {
    const place = await newPlace(t)
    const [store, other] = [await place.open(), await place.open()]
    const { poll, confirm, take } = watch(t, store)
    await poll()
    for (let round = 0; round < 20; round++) {
      take()
      // A reading that is under way may have begun too early.
      const early = poll()
      await other.addSigningKey(newSigningKey())
      await Promise.all([confirm(), confirm()])
      t.ok(take().some((change) => change !== 'all' && change.kind === 'signing-keys'))
      await early
    }
  })
}

t.test('many confirmations share change log reads, which keep their distance', async (t) => {
  const store = await (await newSqlitePlace(t)).open()
  const { poll, confirm, contacts } = watch(t, store)
  await poll()
  contacts.length = 0
  await Promise.all(Array.from({ length: 1_000 }, confirm))
  t.equal(contacts.length, 1)
  const startedAt = performance.now()
  for (let asked = 0; asked < 20; asked++) await confirm()
  t.equal(contacts.length, 21)
  // A timer may be a millisecond early.
  t.ok(performance.now() - startedAt >= 20 * 4, 'some 5 ms apart')
})

t.test('an impossible confirmation fails, at once when the outage is known', async (t) => {
  const server = await startRedis(t)
  const store = await openStoreAt(t, optionsOf(server, { commandTimeoutMs: 250 }))
  const { poll, confirm, contact } = watch(t, store)
  await t.rejects(confirm(), { code: 'store-unavailable' }, 'nothing has been read yet')
  await poll()
  server.signal('SIGSTOP')
  const startedAt = performance.now()
  await t.rejects(confirm(), { code: 'store-unavailable' })
  t.ok(performance.now() - startedAt < 1_000)
  t.equal(contact.isUp, false)
  await t.rejects(confirm(), { code: 'store-unavailable' })
  server.signal('SIGCONT')
  await until('the store answers', async () => {
    await poll()
    return contact.isUp || undefined
  })
  await t.resolves(confirm())
})

t.test('a change that cannot be applied clears the cache, and is not an outage', async (t) => {
  const place = await newSqlitePlace(t)
  const [store, other] = [await place.open(), await place.open()]
  const { poll, confirm, take, contact, contacts, faults, broken } = watch(t, store)
  await poll()
  take()
  broken.apply = true
  const startedAt = Date.now()
  await other.addSigningKey(newSigningKey())
  await t.resolves(confirm())
  t.strictSame(take(), ['all'])
  t.match(faults, [{ message: 'apply' }])
  t.strictSame(contacts, [true, true])
  t.equal(contact.isUp, true)
  t.ok(contact.completeSince >= startedAt, 'what changed before is no longer known')
  t.equal(await store.addSigningKey(newSigningKey()), true, 'what is changed here is answered')
  t.strictSame(take(), ['all'])
  broken.apply = false
  await poll()
  take()
  await other.addSigningKey(newSigningKey())
  await poll()
  t.strictSame(take(), [{ kind: 'signing-keys' }], 'it goes on from there')
  t.equal(faults.length, 2)
})

t.test('a change that can be neither applied nor dropped is read again', async (t) => {
  const place = await newSqlitePlace(t)
  const [store, other] = [await place.open(), await place.open()]
  const { poll, confirm, take, contact, broken } = watch(t, store)
  await poll()
  take()
  const { confirmedAt } = contact
  await other.addSigningKey(newSigningKey())
  broken.apply = true
  broken.clear = true
  await t.rejects(confirm(), { message: 'clear' })
  await t.rejects(poll(), { message: 'clear' })
  t.equal(contact.confirmedAt, confirmedAt)
  broken.apply = false
  broken.clear = false
  await poll()
  t.strictSame(take(), [{ kind: 'signing-keys' }], 'it is read again')
})

t.test('an error while polling the change log is reported', async (t) => {
  const store = await (await newSqlitePlace(t)).open()
  const { broken, faults, contacts } = watch(t, store, 5)
  broken.clear = true
  await until('the fault is reported', () => faults.length > 1 || undefined)
  t.match(faults[0], { message: 'clear' })
  t.strictSame(contacts, [])
  broken.clear = false
  await until('it has been read', () => contacts.at(-1))
})

t.test('a value changed during an outage can be looked up once its change arrives', async (t) => {
  const place = await newSqlitePlace(t)
  const [store, other] = [await place.open(), await place.open()]
  const { poll, contact, seen } = watch(t, store)
  await poll()
  contact.isUp = false
  await other.addSigningKey(newSigningKey())
  seen.length = 0
  await poll()
  t.strictSame(seen, [true])
})
