import t from 'tap'
import { startRedis } from '../../setup/redis.ts'
import { assertUnavailable, everyVerb } from '../cases/every-verb.ts'
import { createAccount, newAccount, newKey, newSigningKey, plain, startSession } from '../samples.ts'
import { openInspector, openStoreAt, optionsOf } from './place.ts'

const server = await startRedis(t)
const inspector = openInspector(t, server)
t.beforeEach(() => inspector.flushall())

/** What does not rest on what is stored. */
const independent = ['takeToken', 'beat', 'startSession']

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
    resetSecretKey: () => store.resetSecretKey(account.id, { secretKey: newKey(), graceUntil: undefined }),
    deleteAccount: () => store.deleteAccount(account.id),
    findSession: () => store.findSession(session.id),
    endSession: () => store.endSession(session.id, 'revoked'),
    createAccounts: () => store.createAccounts([newAccount()]),
  }
  for (const [verb, ask] of Object.entries(asked)) {
    const error = await ask().catch((error: unknown) => error)
    t.match(error, { code: 'store-unavailable', cause: { message: /lost its data/ } }, verb)
  }
  t.strictSame(await inspector.keys('gh:{account}:*'), [], 'and nothing is written into what is empty')
})

t.test('once its data is back it is used again', async (t) => {
  const store = await openStoreAt(t, optionsOf(server))
  const account = await createAccount(store)
  const { head } = await store.readChanges(undefined)
  const keys = await inspector.keys('*')
  const copies = await Promise.all(keys.map((key) => inspector.dumpBuffer(key)))
  await inspector.flushall()
  await t.rejects(store.readChanges(head), { code: 'store-unavailable' })
  for (const [index, key] of keys.entries()) await inspector.restore(key, 0, copies[index] ?? '')
  t.strictSame(plain(await store.findAccount(account.id)), plain(account))
  t.strictSame((await store.readChanges(head)).changes, [])
  t.equal(await store.findAccount('nobody'), undefined)
})

t.test('another store in its place is taken for what it is once its log is read', async (t) => {
  const store = await openStoreAt(t, optionsOf(server))
  const account = await createAccount(store)
  const { head } = await store.readChanges(undefined)
  await inspector.flushall()
  const stranger = await openStoreAt(t, optionsOf(server))
  const other = await createAccount(stranger)
  await stranger.addSigningKey(newSigningKey())
  const refusal = await store.findAccount(account.id).catch((error: unknown) => error)
  t.match(refusal, { code: 'store-unavailable' }, 'nobody is missing before that')
  t.equal((await store.readChanges(head)).changes, undefined)
  t.equal(await store.findAccount(account.id), undefined)
  t.equal((await store.findAccount(other.id))?.id, other.id)
})
