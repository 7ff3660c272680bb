import type { Redis } from 'ioredis'
import t from 'tap'
import { startRedis } from '../../setup/redis.ts'
import { everyVerb } from '../contract/every-verb.ts'
import {
  createAccount,
  day,
  hour,
  newSecretKey,
  newSigningKey,
  now,
  second,
  startSession,
  useOf,
  withoutTimes,
} from '../samples.ts'
import { openInspector, openStoreAt, optionsOf } from './place.ts'

const server = await startRedis(t)
const inspector = openInspector(t, server)
t.beforeEach(() => inspector.flushall())

async function keysOf(redis: Redis): Promise<readonly string[]> {
  const keys: string[] = []
  for (let cursor = '0'; ; ) {
    const [next, found] = await redis.scan(cursor)
    keys.push(...found)
    if (next === '0') return keys.toSorted()
    cursor = next
  }
}

t.test('every key has the prefix, and all that last one hash tag', async (t) => {
  const store = await openStoreAt(t, optionsOf(server, { keyPrefix: 'shop:' }))
  const account = await createAccount(store)
  const session = await startSession(store, account)
  await store.rotateSession(useOf(session))
  await store.endSession(session.id, 'revoked')
  await store.addSigningKey(newSigningKey())
  for (const ask of Object.values(everyVerb)) await ask(store)
  const keys = await keysOf(inspector)
  t.ok(keys.length >= 7, 'accounts, indexes, sessions, signing keys and the log are there')
  const passing = keys.filter((key) => /^shop:(rate:[\w-]{43}|quota:[^{}]+|instances)$/.test(key))
  t.equal(passing.length, 3, 'rates, quotas and instances, spread over a Cluster')
  for (const key of passing) t.ok((await inspector.pttl(key)) > 0, `${key} expires`)
  for (const key of keys.filter((each) => !passing.includes(each))) t.match(key, /^shop:\{account\}:[^{}]+$/)
})

t.test('two prefixes in one Redis know nothing of each other', async (t) => {
  const one = await openStoreAt(t, optionsOf(server, { keyPrefix: 'one:' }))
  const two = await openStoreAt(t, optionsOf(server, { keyPrefix: '' }))
  const account = await createAccount(one, { email: 'ada@example.com' })
  t.equal(await two.findAccount(account.id), undefined)
  await createAccount(two, { email: 'ada@example.com' })
  await two.addSigningKey(newSigningKey())
  t.strictSame(withoutTimes(await one.readChanges(0)), { head: 0, changes: [] })
  t.strictSame(await one.listSigningKeys(), [])
})

t.test('sessions leave nothing behind: each record goes a day after its end', async (t) => {
  const store = await openStoreAt(t, optionsOf(server))
  const account = await createAccount(store)
  const session = await startSession(store, account, { expiresAt: now + 30 * day, idleMs: hour })
  const expiries = async () => {
    const keys = (await keysOf(inspector)).filter((key) => key.includes(':session'))
    t.equal(keys.length, 2, 'the session, and the list of those of its account')
    return Promise.all(keys.map((key) => inspector.pexpiretime(key)))
  }
  t.strictSame(await expiries(), [now + hour + day, now + hour + day])
  await store.rotateSession(useOf(session, { now: now + second, idleMs: hour }))
  t.strictSame(await expiries(), [now + second + hour + day, now + second + hour + day])
  // Not even an idle time beyond the end of the session prolongs it.
  await store.rotateSession(useOf(session, { generation: 2, now: now + second, idleMs: 90 * day }))
  t.strictSame(await expiries(), [now + 31 * day, now + 31 * day])
})

t.test(
  'a deleted account leaves nothing behind but the log, and that there is a store of this format',
  async (t) => {
    const store = await openStoreAt(t, optionsOf(server))
    const account = await createAccount(store)
    await startSession(store, account)
    await startSession(store, account)
    await store.resetSecretKey(account.id, { secretKey: newSecretKey(), graceUntil: now + hour })
    await store.deleteAccount(account.id)
    t.strictSame(await keysOf(inspector), [
      'gh:{account}:format',
      'gh:{account}:log',
      'gh:{account}:log-head',
      'gh:{account}:store-id',
    ])
  },
)
