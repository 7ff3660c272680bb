import t, { type Test } from 'tap'
import { verifyAudit } from '#accounts/verify-audit.ts'
import type { StoreRecord } from '#store/backup/records.ts'
import { followAccounts } from '#store/redis/backup/read.ts'
import { isStoreFailure } from '#store/store-health.ts'
import { until } from '../../setup/net.ts'
import { startRedis } from '../../setup/redis.ts'
import { backupText, checkText, fill, recordsOf, restoreText } from '../backup-samples.ts'
import { newAuditEntry } from '../portal-samples.ts'
import { createAccount, newAccount, newSigningKey, plain, startSession } from '../samples.ts'
import { openAt, openInspector, openStoreAt, optionsOf } from './place.ts'

// uses: redis-server

const server = await startRedis(t)
const inspector = openInspector(t, server)
t.beforeEach(() => inspector.flushall())
const open = (test: Test) => openStoreAt(test, optionsOf(server))
const restoreKey = 'gh:{account}:restore'

t.test('gateways that miss their data go on by themselves once it is restored', async (t) => {
  const store = await open(t)
  const { accounts } = await fill(store)
  const text = await backupText(store)
  const { head } = await store.readChanges(undefined)
  await inspector.flushall()
  await t.rejects(store.readChanges(head), { code: 'store-unavailable' })
  const restorer = openAt(t, optionsOf(server))
  await restorer.ready(5_000)
  t.strictSame(await restoreText(restorer, text), { kind: 'restored' })
  const reading = await store.readChanges(head)
  t.equal(reading.changes, undefined, 'whatever has changed is unknown')
  t.strictSame(plain(await store.findAccount(accounts[0]?.id ?? '')), plain(accounts[0]))
})

t.test('nothing is used of a restore that is not finished, and the next one removes it', async (t) => {
  const source = await open(t)
  const { accounts } = await fill(source)
  const text = await backupText(source)
  await inspector.flushall()
  const waiting = Promise.withResolvers<void>()
  const records = (await checkText(text)).records()
  const dying = await open(t)
  const isWritten = Promise.withResolvers<void>()
  const restoring = dying.restore(
    (async function* (): AsyncGenerator<readonly StoreRecord[]> {
      for await (const batch of records) yield batch
      isWritten.resolve()
      await waiting.promise
    })(),
  )
  await isWritten.promise

  const starter = openAt(t, optionsOf(server))
  await starter.ready(5_000)
  for (const ask of [
    () => starter.readChanges(undefined),
    () => starter.findAccount('nobody'),
    () => starter.createAccounts([newAccount()]),
    () => starter.addSigningKey(newSigningKey()),
    () => recordsOf(starter),
  ]) {
    const error = await ask().catch((error: unknown) => error)
    t.ok(isStoreFailure(error, 'lost'))
    t.match(error, { cause: { message: /a restore into this Redis has not finished/ } })
  }
  t.strictSame(await restoreText(starter, text), { kind: 'busy' }, 'one at a time')

  // As if its process had been killed a while ago.
  await inspector.set(restoreKey, 'killed 1')
  await inspector.set('gh:{account}:account:left-over', '{}')
  await inspector.zadd('gh:{account}:ids', 1, 'left-over')
  t.strictSame(await restoreText(starter, text), { kind: 'restored' })
  t.equal(await inspector.exists('gh:{account}:account:left-over', restoreKey), 0)
  t.equal((await starter.listAccounts({ after: undefined, limit: 9 })).length, accounts.length)
  t.match(await verifyAudit(starter), { kind: 'intact' })
  waiting.resolve()
  await t.rejects(restoring, { code: 'store-unavailable' }, 'the one that was overtaken does not succeed')
  t.equal((await starter.listAccounts({ after: undefined, limit: 9 })).length, accounts.length)
})

t.test('a restore that fails leaves no key that lasts', async (t) => {
  const source = await open(t)
  await fill(source)
  const { records } = await checkText(await backupText(source))
  await inspector.flushall()
  const store = await open(t)
  await t.rejects(
    store.restore(
      (async function* () {
        yield* records()
        throw new Error('stopped')
      })(),
    ),
  )
  const left = await inspector.keys('*')
  const lasting = await Promise.all(left.map((key) => inspector.pttl(key)))
  t.strictSame(
    left.filter((_, index) => lasting[index] === -1),
    [],
  )
})

t.test('more sessions than one command lists are all in a backup, once each', async (t) => {
  const store = await open(t)
  const account = await createAccount(store)
  const ids = new Set<string>()
  for (let count = 0; count < 450; count++)
    ids.add((await startSession(store, account, { openMax: 1_000 })).id)
  const sessions = (await recordsOf(store)).filter(({ kind }) => kind === 'session')
  t.equal(sessions.length, ids.size)
  t.strictSame(new Set(sessions.map((session) => 'id' in session && session.id)), ids)
})

t.test('a backup whose changes are not known any more fails', async (t) => {
  const lost = { readChanges: async () => ({ head: 9_000, changes: undefined, completeSince: 0 }) }
  const follower = followAccounts(lost, 1)
  t.teardown(follower.close)
  await t.rejects(follower.catchUp(), { code: 'store-unavailable', cause: { message: /begin again/ } })
  await t.rejects(follower.catchUp(), { code: 'store-unavailable' }, 'for good')
})

t.test('a backup that is read slowly follows the log by itself', async (t) => {
  const store = await open(t)
  const { id } = await createAccount(store)
  const batches = store.backUp()
  await batches[Symbol.asyncIterator]().next()
  let asked = 0
  const follower = followAccounts(
    {
      readChanges: async (after) => ({
        head: (after ?? 0) + ++asked,
        changes: [{ change: { kind: 'account', accountId: id }, position: asked, at: 1 }],
        completeSince: 0,
      }),
    },
    1,
  )
  t.teardown(follower.close)
  await until('it was asked without a call', () => asked > 1 || undefined)
  t.strictSame(follower.take(), [id])
})

t.test('a Redis that is emptied, or another store, under a backup makes it fail', async (t) => {
  const store = await open(t)
  for (let count = 0; count < 3; count++) await createAccount(store)
  await store.appendAudit(newAuditEntry())
  const failed = (async () => {
    for await (const _ of store.backUp()) await inspector.flushall()
  })()
  await t.rejects(failed, { code: 'store-unavailable', cause: { kind: 'lost' } })
})

/** What a restored Redis has of its own: positions, its audit log's IDs, an index that is built when it is needed. */
const own = /:(?:log|log-head|usage-batch:.*|open-sessions:.*|audit|audit-own|instances)$/

t.test('every key of Redis is restored as it was: one that is new belongs in a backup', async (t) => {
  const store = await open(t)
  await fill(store)
  const before = await contentOfRedis()
  const text = await backupText(store)
  await inspector.flushall()
  await restoreText(await open(t), text)
  const after = await contentOfRedis()
  t.strictSame(Object.keys(after), Object.keys(before))
  for (const [key, content] of Object.entries(before)) t.strictSame(after[key], content, key)
})

/** All values, by key, and whether they expire. */
async function contentOfRedis(): Promise<Readonly<Record<string, unknown>>> {
  const keys = (await inspector.keys('*')).filter((key) => !own.test(key)).toSorted()
  const read = async (key: string) => {
    switch (await inspector.type(key)) {
      case 'string':
        return inspector.get(key)
      case 'hash':
        return inspector.hgetall(key)
      default:
        return inspector.zrange(key, '0', '-1', 'WITHSCORES')
    }
  }
  const values = keys.map(async (key) => {
    const text = JSON.stringify([await read(key), await inspector.pexpiretime(key)])
    // The members of what is JSON itself may come in another order.
    const value: unknown = JSON.parse(text, (_, part) =>
      typeof part === 'string' && part.startsWith('{') ? JSON.parse(part) : part,
    )
    return [key, value] as const
  })
  return Object.fromEntries(await Promise.all(values))
}
