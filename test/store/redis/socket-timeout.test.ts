import t from 'tap'
import { until } from '../../setup/net.ts'
import { startRedis } from '../../setup/redis.ts'
import { createAccount, plain } from '../samples.ts'
import { openStoreAt, optionsOf } from './place.ts'
import { startTcpProxy } from './tcp-proxy.ts'

t.test('a Redis connection that falls silent is replaced', async (t) => {
  const server = await startRedis(t)
  const wire = await startTcpProxy(t, server.port)
  const store = await openStoreAt(t, optionsOf(wire, { commandTimeoutMs: 250 }))
  const account = await createAccount(store)
  wire.cut()
  const cutAt = performance.now()
  const refusal = await store.findAccount(account.id).catch((error: unknown) => error)
  t.match(refusal, { code: 'store-unavailable' })
  t.ok(performance.now() - cutAt < 1_000, 'who asks does not wait for it')
  const found = await until('it answers again', () => store.findAccount(account.id).catch(() => undefined))
  t.strictSame(plain(found), plain(account))
  t.ok(performance.now() - cutAt < 2_500, `after ${(performance.now() - cutAt).toFixed(0)} ms`)
})

t.test('a Redis connection with occasional slow answers is kept', async (t) => {
  const server = await startRedis(t)
  const store = await openStoreAt(t, optionsOf(server, { commandTimeoutMs: 250 }))
  const { id } = await createAccount(store)
  server.signal('SIGSTOP')
  const refusal = await store.findAccount(id).catch((error: unknown) => error)
  t.match(refusal, { code: 'store-unavailable' })
  server.signal('SIGCONT')
  t.equal((await store.findAccount(id))?.id, id, 'at once, without a new connection')
})
