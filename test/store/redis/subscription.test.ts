import t, { type Test } from 'tap'
import type { LoggedChange } from '#store/changes.ts'
import type { Store } from '#store/store.ts'
import { until } from '../../setup/net.ts'
import { redisCommand, startRedis } from '../../setup/redis.ts'
import { createAccount, newSigningKey } from '../samples.ts'
import { openInspector, openStoreAt, optionsOf, type RedisOptions } from './place.ts'
import { startTcpProxy } from './tcp-proxy.ts'

const server = await startRedis(t)
const inspector = openInspector(t, server)
t.beforeEach(() => inspector.flushall())

const channel = 'gh:{account}:changes'

interface Listener {
  readonly store: Store
  readonly heard: LoggedChange[]
  /** Reads the log from where it was read last, as a gateway does. */
  read(): Promise<void>
  readonly learnt: () => number
}

/** An instance that has subscribed. */
async function startListener(t: Test, options: RedisOptions): Promise<Listener> {
  const store = await openStoreAt(t, options, { listens: true })
  const heard: LoggedChange[] = []
  store.onChange((logged) => heard.push(logged))
  let { head } = await store.readChanges(undefined)
  await untilSubscribed()
  return {
    store,
    heard,
    learnt: () => head,
    read: async () => {
      head = (await store.readChanges(head)).head
    },
  }
}

async function untilSubscribed(): Promise<void> {
  await until('somebody listens', async () => {
    const [, count] = (await inspector.pubsub('NUMSUB', channel)) as [string, number]
    return Number(count) > 0 || undefined
  })
}

t.test('an instance receives the changes by other instances with position and time', async (t) => {
  const { heard } = await startListener(t, optionsOf(server))
  const writer = await openStoreAt(t, optionsOf(server))
  const { id } = await createAccount(writer)
  const before = Date.now()
  await writer.updateAccount(id, { role: 'Admin' })
  await writer.addSigningKey(newSigningKey())
  await until('it has heard', () => heard.length === 2 || undefined)
  t.match(heard, [
    { change: { kind: 'account', accountId: id }, position: 1 },
    { change: { kind: 'signing-keys' }, position: 2 },
  ])
  for (const { at } of heard) t.ok(Math.abs(at - before) < 500)
})

t.test('an instance receives its own change before the call returns', async (t) => {
  const { store, heard } = await startListener(t, optionsOf(server))
  await store.addSigningKey(newSigningKey())
  t.match(heard, [{ change: { kind: 'signing-keys' }, position: 1 }])
})

t.test('a store that does not listen keeps no second connection', async (t) => {
  const count = async () => (await redisCommand(server.port, 'CLIENT LIST')).split('\n').length
  const before = await count()
  await openStoreAt(t, optionsOf(server))
  t.equal(await count(), before + 1)
})

t.test('messages that are not changes are ignored', async (t) => {
  const { heard } = await startListener(t, optionsOf(server))
  const messages = ['', 'nonsense', '1', '1 2 novelty x', '7 1800000000000 session one']
  for (const message of messages) await inspector.publish(channel, message)
  await until('the last is heard', () => heard.length > 0 || undefined)
  t.match(heard, [{ change: { kind: 'session', sessionId: 'one' }, position: 7 }])
  t.equal(heard.length, 1)
})

t.test(
  'with its channel killed again and again it still learns all, and hears again afterwards',
  async (t) => {
    const { store, heard, learnt, read } = await startListener(t, optionsOf(server))
    const writer = await openStoreAt(t, optionsOf(server))
    for (let change = 1; change <= 100; change++) {
      await inspector.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
      await writer.addSigningKey(newSigningKey())
      await read()
      if (learnt() !== change) t.fail(`${learnt()} of ${change} changes were read`)
    }
    t.equal((await store.readChanges(0)).changes?.length, 100)
    await untilSubscribed()
    const before = heard.length
    await writer.addSigningKey(newSigningKey())
    await until('it hears again', () => heard.length > before || undefined)
  },
)

t.test('a silent channel is detected by the change log, and reopened', async (t) => {
  const wire = await startTcpProxy(t, server.port)
  const { heard, read } = await startListener(t, optionsOf(wire))
  const writer = await openStoreAt(t, optionsOf(server))
  t.equal(wire.cutMatching('subscribe'), 1)
  const cutAt = performance.now()
  await until('it hears again', async () => {
    await writer.addSigningKey(newSigningKey())
    await read()
    return heard.length > 0 || undefined
  })
  t.ok(performance.now() - cutAt < 4_000, `after ${(performance.now() - cutAt).toFixed(0)} ms`)
})

t.test('while the log cannot be read, what is published waits for it', async (t) => {
  const wire = await startTcpProxy(t, server.port)
  const { store, heard, read } = await startListener(t, optionsOf(wire, { commandTimeoutMs: 250 }))
  const writer = await openStoreAt(t, optionsOf(server))
  t.ok(wire.cutMatching('evalsha') > 0)
  const isRead = () =>
    read().then(
      () => true,
      () => undefined,
    )
  t.equal(await isRead(), undefined)
  await writer.addSigningKey(newSigningKey())
  const early: number[] = []
  await until('the log is read again', async () => {
    early.push(heard.length)
    return isRead()
  })
  t.ok(early.length > 1)
  t.strictSame([...new Set(early)], [0], 'nothing is heard before')
  t.equal((await store.readChanges(0)).changes?.length, 1, 'the log says it')
  await writer.addSigningKey(newSigningKey())
  await until('it hears as before', () => heard.some(({ position }) => position === 2) || undefined)
})

t.test('published changes wait only briefly for an unreadable change log', async (t) => {
  const { heard, read } = await startListener(t, optionsOf(server))
  // Such as a user whose rights were cut: what is published still comes.
  await inspector.call('ACL', 'SETUSER', 'default', '-eval', '-evalsha')
  t.teardown(() => inspector.call('ACL', 'SETUSER', 'default', '+eval', '+evalsha'))
  await t.rejects(read(), { code: 'store-unavailable' })
  const publishedAt = performance.now()
  await inspector.publish(channel, '7 1800000000000 session one')
  await until('it is heard', () => heard.length > 0 || undefined)
  const afterMs = performance.now() - publishedAt
  t.ok(afterMs > 1_000 && afterMs < 4_000, `after ${afterMs.toFixed(0)} ms`)
})

t.test('a channel on which nothing happens is left as it is', async (t) => {
  const { read } = await startListener(t, optionsOf(server))
  const idOf = async () => /id=(\d+).*cmd=subscribe/.exec(String(await inspector.client('LIST')))?.[1]
  const before = await idOf()
  for (let count = 0; count < 200; count++) await read()
  t.ok(before)
  t.equal(await idOf(), before)
})

t.test('a store counts as listening once it has been subscribed for a while', async (t) => {
  const { store } = await startListener(t, optionsOf(server))
  t.equal(store.isListening(), false)
  await until('it listens', () => store.isListening() || undefined)
  await inspector.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
  await until('it has noticed', () => !store.isListening() || undefined)
  await untilSubscribed()
  t.equal(store.isListening(), false, 'it may be cut again')
  await until('it listens again', () => store.isListening() || undefined)
  const command = await openStoreAt(t, optionsOf(server))
  t.equal(command.isListening(), false, 'a command never does')
})

t.test('a store whose channel is silent does not count as listening', async (t) => {
  const wire = await startTcpProxy(t, server.port)
  const { store, read } = await startListener(t, optionsOf(wire))
  await until('it listens', () => store.isListening() || undefined)
  const writer = await openStoreAt(t, optionsOf(server))
  wire.cutMatching('subscribe')
  await writer.addSigningKey(newSigningKey())
  await read()
  t.equal(store.isListening(), false, 'the log has a change that was not announced')
  await until('it listens again', async () => {
    await read()
    return store.isListening() || undefined
  })
})
