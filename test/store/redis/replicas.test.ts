import t, { type Test } from 'tap'
import type { Store } from '#store/store.ts'
import { isStoreFailure } from '#store/store-health.ts'
import { until } from '../../setup/net.ts'
import { type RedisServer, redisCommand, startRedis } from '../../setup/redis.ts'
import { createAccount, newAccount, newKey, newSigningKey, startSession, useOf } from '../samples.ts'
import { openInspector, openStoreAt, optionsOf } from './place.ts'

// slow: waits for replicas that do not confirm

/** A WAIT takes four fifths of it, where nobody acknowledges. */
const commandTimeoutMs = 1_000
const waitMs = 800

/** A master, with a store that waits for one replica, and one that waits for none. */
async function startMaster(t: Test) {
  const server = await startRedis(t)
  const options = optionsOf(server, { commandTimeoutMs })
  const careful = await openStoreAt(t, { ...options, replicas: 1 })
  const careless = await openStoreAt(t, options)
  return { server, options, careful, careless }
}

async function startReplica(t: Test, { port }: RedisServer): Promise<RedisServer> {
  const replica = await startRedis(t, [
    '--replicaof',
    '127.0.0.1',
    String(port),
    '--repl-diskless-sync-delay',
    '0',
  ])
  await until('the replica follows', async () =>
    (await redisCommand(port, 'INFO replication')).includes('state=online'),
  )
  return replica
}

async function assertUnconfirmed(t: Test, write: Promise<unknown>, what: string): Promise<number> {
  const askedAt = performance.now()
  const error = await write.then(
    () => undefined,
    (error: unknown) => error,
  )
  t.ok(isStoreFailure(error, 'unconfirmed'), what)
  return performance.now() - askedAt
}

t.test('without a replica a change is made, but not confirmed', async (t) => {
  const { careful, careless } = await startMaster(t)
  const account = newAccount()
  await assertUnconfirmed(t, careful.createAccounts([account]), 'a new account')
  t.equal((await careless.findAccount(account.id))?.id, account.id)
  const error = await careful.addSigningKey(newSigningKey()).catch((error: unknown) => error)
  t.match(error, {
    code: 'store-unavailable',
    cause: { message: /only 0 of 1 replicas confirmed the write/ },
  })
})

t.test('look-ups and the change log do not stand behind writes that wait', async (t) => {
  const { careful, careless } = await startMaster(t)
  const { id } = await createAccount(careless)
  const { head } = await careless.readChanges(undefined)
  await careful.readChanges(head)
  let isOver = false
  const writes = Promise.allSettled(
    Array.from({ length: 10 }, () => careful.updateAccount(id, { role: 'Admin' })),
  ).finally(() => {
    isOver = true
  })
  const delays: number[] = []
  while (!isOver) {
    const askedAt = performance.now()
    await Promise.all([careful.findAccount(id), careful.readChanges(head).catch(() => {})])
    delays.push(performance.now() - askedAt)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  for (const { status } of await writes) t.equal(status, 'rejected')
  t.ok(delays.length > 20, `${delays.length} look-ups meanwhile`)
  const slowestMs = Math.max(...delays)
  t.ok(slowestMs < waitMs / 2, `the slowest took ${slowestMs.toFixed(0)} ms`)
})

t.test('many writes wait together, not one after the other', async (t) => {
  const { careful, careless } = await startMaster(t)
  const accounts = await Promise.all(Array.from({ length: 30 }, () => createAccount(careless)))
  const delays = await Promise.all(
    accounts.map(({ id }) => assertUnconfirmed(t, careful.resetApiKey(id, { apiKey: newKey() }), 'a reset')),
  )
  const slowestMs = Math.max(...delays)
  t.ok(slowestMs < 2 * waitMs + 500, `the last was answered after ${slowestMs.toFixed(0)} ms`)
})

t.test('with a replica many writes are answered each with its own outcome', async (t) => {
  const { server, options } = await startMaster(t)
  await startReplica(t, server)
  const careful = await openStoreAt(t, { ...options, replicas: 1, commandTimeoutMs: 10_000 })
  const account = await until('the replica is quick enough to confirm it', () =>
    createAccount(careful).catch(() => undefined),
  )
  const resets = Array.from({ length: 20 }, () => careful.resetApiKey(account.id, { apiKey: newKey() }))
  const taken = careful.createAccounts([newAccount({ email: account.email })])
  const keys = Array.from({ length: 20 }, () => careful.addSigningKey(newSigningKey()))
  t.strictSame(
    (await Promise.all(resets)).map((reset) => reset?.revision ?? 0).toSorted((a, b) => a - b),
    Array.from({ length: 20 }, (_, index) => index + 2),
  )
  t.strictSame(await taken, { kind: 'exists', emails: [account.email] })
  t.ok((await Promise.all(keys)).every((isAdded) => isAdded))
})

t.test('a script that Redis has forgotten is not waited for twice', async (t) => {
  const { server, careful } = await startMaster(t)
  const inspector = openInspector(t, server)
  for (const key of ['a', 'b']) {
    await inspector.script('FLUSH')
    const tookMs = await assertUnconfirmed(t, careful.addSigningKey(newSigningKey({ kid: key })), key)
    t.ok(tookMs < 1.6 * waitMs, `${tookMs.toFixed(0)} ms`)
  }
})

t.test('a refresh that was refused for want of a replica is not answered when it is repeated', async (t) => {
  const { server, options, careful, careless } = await startMaster(t)
  const account = await createAccount(careless)
  const session = await startSession(careless, account)
  await assertUnconfirmed(t, careful.rotateSession(useOf(session)), 'the first')
  await assertUnconfirmed(t, careful.rotateSession(useOf(session)), 'its repetition')
  const other = await openStoreAt(t, { ...options, replicas: 1 })
  await assertUnconfirmed(t, other.rotateSession(useOf(session)), 'and elsewhere')
  const replica = await startReplica(t, server)
  const confirmed = await until('the replica is quick enough to confirm it', () =>
    other.rotateSession(useOf(session)).catch((error: unknown) => {
      if (!isStoreFailure(error, 'unconfirmed')) throw error
      return undefined
    }),
  )
  t.match(confirmed, { kind: 'current', session: { generation: 2 } })
  const copy = openInspector(t, replica)
  t.equal(await copy.hget(`gh:{account}:session:${session.id}`, 'generation'), '2', 'the replica has it')
  t.equal(await rotatedAt(careless, session.id), useOf(session).now, 'the grace is not prolonged')
})

async function rotatedAt(store: Store, sessionId: string): Promise<number | undefined> {
  return (await store.findSession(sessionId))?.rotatedAt
}

t.test('a change found already made still waits for its replicas', async (t) => {
  const { options, careful, careless } = await startMaster(t)
  const account = await createAccount(careless)
  const session = await startSession(careless, account)
  await careless.addSigningKey(newSigningKey({ kid: 'key' }))
  const others = await openStoreAt(t, { ...options, replicas: 1 })
  for (const store of [careful, others]) {
    await assertUnconfirmed(t, store.endSession(session.id, 'revoked'), 'the end of a session')
    await assertUnconfirmed(t, store.retireSigningKey('key'), 'the end of a key')
    await assertUnconfirmed(t, store.deleteAccount(account.id), 'the end of an account')
  }
})

t.test('a reading store keeps one connection, a writing one a second', async (t) => {
  const { server, careful, careless } = await startMaster(t)
  const { id } = await createAccount(careless)
  const count = async () => (await redisCommand(server.port, 'CLIENT LIST')).split('\n').length
  const before = await count()
  await careful.findAccount(id)
  t.equal(await count(), before)
  await assertUnconfirmed(t, careful.resetApiKey(id, { apiKey: newKey() }), 'a reset')
  t.equal(await count(), before + 1)
  await careful.close()
  await until('both are closed', async () => (await count()) === before - 1)
})
