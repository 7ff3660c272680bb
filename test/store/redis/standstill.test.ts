import t from 'tap'
import { isStoreFailure } from '#store/store-health.ts'
import { until } from '../../setup/net.ts'
import { startPromise } from '../../setup/promise-of-time.ts'
import { redisCommand, startRedis } from '../../setup/redis.ts'
import { standStill } from '../../setup/stand-still.ts'
import { createAccount } from '../samples.ts'
import { openStoreAt, optionsOf } from './place.ts'

// slow: stands still for seconds

/** As in a gateway. */
const commandTimeoutMs = 250

t.test('a standstill of this process is not blamed on Redis, however long', async (t) => {
  const server = await startRedis(t)
  const store = await openStoreAt(t, optionsOf(server, { commandTimeoutMs }))
  const { id } = await createAccount(store)
  const ask = () =>
    Promise.all([
      store.findAccount(id),
      store.updateAccount(id, { firstName: 'Ada' }),
      store.readChanges(undefined),
    ])
  await ask()
  const connections = async () =>
    (await redisCommand(server.port, 'CLIENT LIST TYPE normal')).match(/\bid=\d+(?=.*cmd=(?!client))/g)
  const before = await connections()
  for (const standstillMs of [100, 200, 245, 255, 300, 600, 1_200, 2_000]) {
    for (const turnsBefore of [0, 1]) {
      const answers = ask()
      for (let turn = 0; turn < turnsBefore; turn++) await new Promise((resolve) => setImmediate(resolve))
      standStill(standstillMs)
      await t.resolves(answers, `${standstillMs} ms, ${turnsBefore} turns after the commands`)
    }
  }
  t.strictSame(await connections(), before, 'no connection is replaced')
})

t.test('a Redis that is dead is refused within 500 ms, also after a standstill', async (t) => {
  const server = await startRedis(t)
  const store = await openStoreAt(t, optionsOf(server, { commandTimeoutMs }))
  const { id } = await createAccount(store)
  for (const standstillMs of [0, 300, 600]) {
    server.signal('SIGSTOP')
    const answer = store.updateAccount(id, { firstName: 'Ada' }).catch((error: unknown) => error)
    standStill(standstillMs)
    const assertInTime = startPromise(t)
    t.ok(isStoreFailure(await answer, 'unanswered', 'unconfirmed'))
    assertInTime()
    server.signal('SIGCONT')
    await until('it answers again', () => store.findAccount(id).catch(() => undefined))
  }
})
