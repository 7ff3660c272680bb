import t from 'tap'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { OperatorError } from '#platform/errors/operator-error.ts'
import { until } from '../../setup/net.ts'
import { redisCommand, startRedis } from '../../setup/redis.ts'
import { assertUnavailable } from '../contract/every-verb.ts'
import { createAccount, newAccount, newSigningKey, plain, withoutTimes } from '../samples.ts'
import { openAt, openInspector, openStoreAt, optionsOf } from './place.ts'
import { startTcpProxy } from './tcp-proxy.ts'

/** As in a gateway: a request does not wait longer for the store. */
const commandTimeoutMs = 250
/** What a request may wait at most (contract 7), and some for a busy machine. */
const answerWithinMs = 500 + 500

const durable = ['--appendonly', 'yes', '--appendfsync', 'always']

t.test('a Redis that hangs rejects every verb soon, and is used again once it does not', async (t) => {
  const server = await startRedis(t)
  const store = await openStoreAt(t, optionsOf(server, { commandTimeoutMs }))
  const account = await createAccount(store)
  server.signal('SIGSTOP')
  const startedAt = performance.now()
  await assertUnavailable(t, store)
  t.ok(performance.now() - startedAt < answerWithinMs)
  server.signal('SIGCONT')
  const found = await until('it answers again', () => store.findAccount(account.id).catch(() => undefined))
  t.strictSame(plain(found), plain(account))
})

t.test('a Redis that is killed rejects every verb soon, and is used again once it is back', async (t) => {
  const server = await startRedis(t, durable)
  const store = await openStoreAt(t, optionsOf(server, { commandTimeoutMs }))
  const account = await createAccount(store)
  await server.stop('SIGKILL')
  const startedAt = performance.now()
  await assertUnavailable(t, store)
  const refused = newAccount()
  await t.rejects(store.createAccounts([refused]), { code: 'store-unavailable' })
  t.ok(performance.now() - startedAt < answerWithinMs)
  await server.start()
  const found = await until('it answers again', () => store.findAccount(account.id).catch(() => undefined))
  t.strictSame(plain(found), plain(account))
  t.equal(await store.findAccount(refused.id), undefined, 'a write that was refused is not done later')
})

t.test('an outage never looks as if an account were not there', async (t) => {
  const server = await startRedis(t, durable)
  const store = await openStoreAt(t, optionsOf(server, { commandTimeoutMs }))
  const account = await createAccount(store)
  let isOver = false
  const answers = new Set<string>()
  const asking = (async () => {
    while (!isOver) {
      for (const ask of [
        () => store.findAccount(account.id),
        () => store.findAccountByEmail(account.email),
      ]) {
        const answer = await ask().catch((error: unknown) => error)
        answers.add(answer instanceof GatehouseError ? answer.code : String(answer && 'there'))
      }
      await new Promise((resolve) => setImmediate(resolve))
    }
  })()
  for (let round = 0; round < 3; round++) {
    await server.stop('SIGKILL')
    await until('it is missed', () => answers.has('store-unavailable'))
    await server.start()
    await until('it answers again', () => store.findAccount(account.id).catch(() => undefined))
  }
  isOver = true
  await asking
  t.strictSame([...answers].toSorted(), ['store-unavailable', 'there'])
})

t.test('with a read-only Redis writes are refused and reads answered', async (t) => {
  const server = await startRedis(t)
  const store = await openStoreAt(t, optionsOf(server))
  const inspector = openInspector(t, server)
  const account = await createAccount(store)
  const states = [
    [
      'full',
      () => inspector.config('SET', 'maxmemory', '1'),
      () => inspector.config('SET', 'maxmemory', '0'),
    ],
    ['a replica', () => inspector.replicaof('127.0.0.1', 1), () => inspector.replicaof('NO', 'ONE')],
  ] as const
  for (const [name, begin, end] of states) {
    await begin()
    const refused = newAccount()
    const refusal = await store.createAccounts([refused]).catch((error: unknown) => error)
    t.match(refusal, { code: 'store-unavailable' }, name)
    t.equal(await store.findAccount(refused.id), undefined, name)
    t.strictSame(plain(await store.findAccount(account.id)), plain(account), name)
    await end()
    t.equal(await store.addSigningKey(newSigningKey()), true)
  }
})

t.test('a master that has become a replica is left for the one that its address leads to', async (t) => {
  const old = await startRedis(t, ['--repl-diskless-sync-delay', '0'])
  const next = await startRedis(t)
  const wire = await startTcpProxy(t, old.port)
  const store = await openStoreAt(t, optionsOf(wire, { commandTimeoutMs }))
  await createAccount(store)
  await redisCommand(next.port, `REPLICAOF 127.0.0.1 ${old.port}`)
  await until('it follows', async () =>
    (await redisCommand(next.port, 'INFO replication')).includes('master_link_status:up'),
  )
  await redisCommand(next.port, 'REPLICAOF NO ONE')
  wire.leadTo(next.port)
  await redisCommand(old.port, `REPLICAOF 127.0.0.1 ${next.port}`)
  const write = () => store.createAccounts([newAccount()])
  await t.rejects(write(), { code: 'store-unavailable' }, 'its connections stay')
  const creation = await until('writes are accepted again', () => write().catch(() => undefined))
  t.strictSame(creation, { kind: 'created' })
})

t.test('a store is opened without Redis and is ready once it is there', async (t) => {
  const server = await startRedis(t)
  await server.stop()
  const store = openAt(t, optionsOf(server))
  const refusal = await store.ready(200).catch((error: unknown) => error)
  t.ok(refusal instanceof OperatorError)
  t.match(refusal, { message: /refused/i }, 'the operator learns why')
  await assertUnavailable(t, store)
  const ready = store.ready(20_000)
  await server.start()
  await ready
  t.strictSame(withoutTimes(await store.readChanges(undefined)), { head: 0, changes: [] })
})

t.test('a store that is closed answers nothing', async (t) => {
  const server = await startRedis(t)
  const store = await openStoreAt(t, optionsOf(server))
  await store.close()
  await assertUnavailable(t, store)
})
