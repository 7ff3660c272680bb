import t from 'tap'
import { startRedis } from '../../setup/redis.ts'
import { createAccount, newKey, newSigningKey, startSession, useOf } from '../samples.ts'
import { openInspector, openStoreAt, optionsOf } from './place.ts'

const server = await startRedis(t)
const inspector = openInspector(t, server)

t.test('a Redis that lost its scripts is sent them again', async (t) => {
  const store = await openStoreAt(t, optionsOf(server))
  const forget = () => inspector.script('FLUSH')
  await forget()
  const account = await createAccount(store)
  await forget()
  const session = await startSession(store, account)
  await forget()
  t.equal((await store.rotateSession(useOf(session))).kind, 'current')
  await forget()
  t.equal(await store.endSession(session.id, 'revoked'), true)
  await forget()
  t.equal((await store.resetApiKey(account.id, { apiKey: newKey() }))?.revision, 2)
  await forget()
  t.equal(await store.addSigningKey(newSigningKey({ kid: 'key' })), true)
  await forget()
  t.equal(await store.retireSigningKey('key'), true)
  await forget()
  t.equal((await store.readChanges(0)).changes?.length, 4)
  await forget()
  t.equal(await store.deleteAccount(account.id), 'deleted')
})

t.test('forgetting the scripts in the middle of many writes loses and doubles none', async (t) => {
  const store = await openStoreAt(t, optionsOf(server))
  const account = await createAccount(store)
  const { head } = await store.readChanges(undefined)
  const resets = Array.from({ length: 50 }, async () => {
    await inspector.script('FLUSH')
    return store.resetApiKey(account.id, { apiKey: newKey() })
  })
  await Promise.all(resets)
  t.equal((await store.findAccount(account.id))?.revision, 51)
  t.equal((await store.readChanges(undefined)).head, head + 50)
})
