import t from 'tap'
import { OperatorError } from '#platform/errors/operator-error.ts'
import { startRedis } from '../../setup/redis.ts'
import { assertUnavailable, everyVerb } from '../contract/every-verb.ts'
import { createAccount, newSigningKey } from '../samples.ts'
import { openAt, openInspector, openStoreAt, optionsOf } from './place.ts'

const server = await startRedis(t)
const inspector = openInspector(t, server)
t.beforeEach(() => inspector.flushall())

const format = 'gh:{account}:format'

t.test('the first write gives a store its format, whichever it is', async (t) => {
  const writes = { createAccounts: createAccount, addSigningKey: everyVerb.addSigningKey }
  for (const [verb, write] of Object.entries(writes)) {
    await inspector.flushall()
    const store = await openStoreAt(t, optionsOf(server))
    t.equal(await inspector.exists(format), 0, `${verb}: looking writes nothing`)
    await write(store)
    t.equal(await inspector.get(format), '1', verb)
  }
})

t.test('a store without a format has the first one, and is marked with it', async (t) => {
  const marked = {
    'at a start': () => openAt(t, optionsOf(server)).ready(5_000),
    'while a gateway runs': (running: Awaited<ReturnType<typeof openStoreAt>>) =>
      running.readChanges(undefined),
  }
  for (const [when, look] of Object.entries(marked)) {
    await inspector.flushall()
    const store = await openStoreAt(t, optionsOf(server))
    await store.addSigningKey(newSigningKey())
    await inspector.del(format)
    await look(store)
    t.equal(await inspector.get(format), '1', when)
  }
})

t.test('data of a newer version is refused at a start, and left as it is', async (t) => {
  await createAccount(await openStoreAt(t, optionsOf(server)))
  for (const newer of ['2', '99', '1.5', 'later']) {
    await inspector.set(format, newer)
    const before = await inspector.keys('*')
    const store = openAt(t, optionsOf(server))
    const startedAt = performance.now()
    const refusal = await store.ready(60_000).catch((error: unknown) => error)
    t.ok(performance.now() - startedAt < 30_000, 'at once, not when the time is over')
    t.ok(refusal instanceof OperatorError, newer)
    t.match(refusal, {
      message: `newer version of Gatehouse (format ${newer}; this version supports up to 1)`,
    })
    t.match(refusal, { hint: /Run that version; .*backup.*store\.redis\.keyPrefix/ })
    await assertUnavailable(t, store)
    t.equal(await inspector.get(format), newer)
    t.strictSame((await inspector.keys('*')).toSorted(), before.toSorted())
  }
})

t.test('a store that becomes newer is out of reach, and used again once it is not', async (t) => {
  const store = await openStoreAt(t, optionsOf(server))
  const account = await createAccount(store)
  const { head } = await store.readChanges(undefined)
  await inspector.set(format, '2')
  const error = await store.readChanges(head).catch((error: unknown) => error)
  t.match(error, {
    code: 'store-unavailable',
    cause: { kind: 'newer', message: /newer version.*: run that/ },
  })
  await assertUnavailable(t, store)
  await inspector.set(format, '1')
  t.strictSame((await store.readChanges(head)).changes, [])
  t.equal((await store.findAccount(account.id))?.id, account.id)
})
