import t from 'tap'
import { isStoreFailure } from '#store/store-health.ts'
import { until } from '../../setup/net.ts'
import { startRedis } from '../../setup/redis.ts'
import { assertUnavailable, everyVerb } from '../contract/every-verb.ts'
import { createAccount, newAccount, newSecretKey, newSigningKey, plain, startSession } from '../samples.ts'
import { openAt, openInspector, openStoreAt, optionsOf } from './place.ts'

const server = await startRedis(t)
const inspector = openInspector(t, server)
t.beforeEach(() => inspector.flushall())

/** What does not rest on what is stored. */
const independent = [
  'takeFromRate',
  'takeQuota',
  'heartbeat',
  'startSession',
  'probeWrite',
  'findRisks',
  'restore',
]
/** Said to those who start meanwhile. */
const lostId = 'gh:{account}:lost-id'

t.test('a Redis that has lost its data is unavailable, not empty', async (t) => {
  const store = await openStoreAt(t, optionsOf(server))
  const account = await createAccount(store)
  const session = await startSession(store, account)
  await store.readChanges(undefined)
  await inspector.flushall()
  await assertUnavailable(
    t,
    store,
    Object.keys(everyVerb).filter((verb) => !independent.includes(verb)),
  )
  const asked = {
    findAccount: () => store.findAccount(account.id),
    findAccountByEmail: () => store.findAccountByEmail(account.email),
    resetSecretKey: () =>
      store.resetSecretKey(account.id, { secretKey: newSecretKey(), graceUntil: undefined }),
    deleteAccount: () => store.deleteAccount(account.id),
    findSession: () => store.findSession(session.id),
    endSession: () => store.endSession(session.id, 'revoked'),
    createAccounts: () => store.createAccounts([newAccount()]),
  }
  for (const [verb, ask] of Object.entries(asked)) {
    const error = await ask().catch((error: unknown) => error)
    t.match(error, { code: 'store-unavailable', cause: { kind: 'lost', message: /lost its data/ } }, verb)
  }
  t.strictSame(await inspector.keys('gh:{account}:*'), [lostId], 'and nothing else is written there')
})

t.test('a Redis whose data is back is used again', async (t) => {
  const store = await openStoreAt(t, optionsOf(server))
  const account = await createAccount(store)
  const { head } = await store.readChanges(undefined)
  const keys = await inspector.keys('*')
  const copies = await Promise.all(keys.map((key) => inspector.dumpBuffer(key)))
  await inspector.flushall()
  await t.rejects(store.readChanges(head), { code: 'store-unavailable' })
  for (const [index, key] of keys.entries()) await inspector.restore(key, 0, copies[index] ?? '', 'REPLACE')
  t.strictSame(plain(await store.findAccount(account.id)), plain(account))
  t.strictSame((await store.readChanges(head)).changes, [])
  t.equal(await store.findAccount('nobody'), undefined)
})

t.test(
  'a restored older copy of the same store is used, and changes after it are reported as unknown',
  async (t) => {
    const store = await openStoreAt(t, optionsOf(server))
    const account = await createAccount(store)
    await store.updateAccount(account.id, { role: 'Then' })
    const keys = await inspector.keys('*')
    const copies = await Promise.all(keys.map((key) => inspector.dumpBuffer(key)))
    await store.updateAccount(account.id, { role: 'Later' })
    const { head } = await store.readChanges(undefined)
    await inspector.flushall()
    await t.rejects(store.readChanges(head), { code: 'store-unavailable' })
    for (const [index, key] of keys.entries()) await inspector.restore(key, 0, copies[index] ?? '', 'REPLACE')
    const reading = await store.readChanges(head)
    t.match(reading, { head: head - 1, changes: undefined })
    t.equal((await store.findAccount(account.id))?.role, 'Then')
  },
)

t.test('another store in place of the known one is used only by new instances', async (t) => {
  const store = await openStoreAt(t, optionsOf(server))
  const account = await createAccount(store)
  const { head } = await store.readChanges(undefined)
  await inspector.flushall()
  const stranger = await openStoreAt(t, optionsOf(server))
  const other = await createAccount(stranger)
  for (let change = 0; change < 3; change++) {
    await stranger.addSigningKey(newSigningKey())
    for (const after of [head, undefined]) {
      const error = await store.readChanges(after).catch((error: unknown) => error)
      t.match(error, { code: 'store-unavailable', cause: { kind: 'lost', message: /restart all gateways/ } })
    }
    t.ok(isStoreFailure(await store.findAccount(account.id).catch((error: unknown) => error), 'lost'))
  }
  const reopened = await openStoreAt(t, optionsOf(server))
  t.equal((await reopened.readChanges(undefined)).head, 3)
  t.equal(await reopened.findAccount(account.id), undefined)
  t.equal((await reopened.findAccount(other.id))?.id, other.id)
})

t.test('no instance starts an empty store while another misses the lost data', async (t) => {
  const store = await openStoreAt(t, optionsOf(server))
  const account = await createAccount(store)
  const { head } = await store.readChanges(undefined)
  await inspector.flushall()
  await t.rejects(store.readChanges(head), { code: 'store-unavailable' })
  const starter = openAt(t, optionsOf(server))
  await starter.ready(5_000)
  const asked = {
    readChanges: () => starter.readChanges(undefined),
    findAccount: () => starter.findAccount(account.id),
    createAccounts: () => starter.createAccounts([newAccount()]),
    addSigningKey: () => starter.addSigningKey(newSigningKey()),
  }
  for (const [verb, ask] of Object.entries(asked)) {
    t.ok(isStoreFailure(await ask().catch((error: unknown) => error), 'lost'), verb)
  }
  t.strictSame(await inspector.keys('gh:{account}:*'), [lostId])
  // Without a restart, once no instance misses it any more.
  await store.close()
  t.ok((await inspector.pttl(lostId)) > 0)
  await until('it starts again empty', () =>
    starter.createAccounts([newAccount()]).then(
      () => true,
      () => undefined,
    ),
  )
  t.equal((await starter.readChanges(undefined)).head, 0)
})
