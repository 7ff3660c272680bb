import t from 'tap'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { createKeyNames } from '#store/redis/data-layout.ts'
import { startRedis } from '../../setup/redis.ts'
import { startPortalSession } from '../portal-samples.ts'
import { createAccount, newSession, now, startSession, useOf, visitor } from '../samples.ts'
import { openInspector, openStoreAt, optionsOf } from './place.ts'

t.test('accounts of before are in the first epoch of their role, until that changes', async (t) => {
  const server = await startRedis(t)
  const store = await openStoreAt(t, optionsOf(server))
  const { id } = await createAccount(store, { role: 'User' })
  const client = openInspector(t, server)
  const key = createKeyNames('gh:').account(id)
  const { roleEpoch: _, ...before } = JSON.parse((await client.get(key)) ?? '')
  await client.set(key, JSON.stringify(before))
  t.match(await store.findAccount(id), { roleEpoch: 1 })
  t.match(await store.updateAccount(id, { role: 'Admin' }), { account: { roleEpoch: 2 } })
  t.match(await store.findAccount(id), { role: 'Admin', roleEpoch: 2 })
})

t.test('a record that is damaged is a fault, and not a store that is out of reach', async (t) => {
  const server = await startRedis(t)
  const options = optionsOf(server, { commandTimeoutMs: 1_000 })
  const store = await openStoreAt(t, options)
  const damaged = await createAccount(store)
  const whole = await createAccount(store)
  const client = openInspector(t, server)
  await client.set(createKeyNames('gh:').account(damaged.id), '{')
  await t.rejects(store.findAccount(damaged.id), { name: 'SyntaxError' })
  // There a script reads it; who waits for replicas sends it otherwise.
  for (const each of [store, await openStoreAt(t, { ...options, replicas: 1 })]) {
    const error = await each.startSession(newSession(damaged), damaged).catch((error: unknown) => error)
    t.match(error, { name: 'ReplyError', message: /user_script/ })
    t.notOk(error instanceof GatehouseError)
  }
  t.equal((await store.updateAccount(whole.id, { role: 'Admin' })).kind, 'updated', 'it goes on')
})

t.test('the User-Agent is stored as client, as it was by versions before', async (t) => {
  const server = await startRedis(t)
  const store = await openStoreAt(t, optionsOf(server))
  const account = await createAccount(store)
  const inspector = openInspector(t, server)
  const keys = createKeyNames('gh:')
  const session = await startSession(store, account)
  const expected = { address: visitor.address, client: visitor.userAgent, userAgent: undefined }
  t.match(await inspector.hgetall(keys.session(session.id)), expected, 'from the start')
  const later = { address: '192.0.2.8', userAgent: 'Other/1' }
  await store.rotateSession(useOf(session, { visitor: later }))
  t.match(await inspector.hgetall(keys.session(session.id)), { ...expected, ...asStored(later) }, 'refreshed')
  const { id } = await startPortalSession(store, account)
  const written = async () => {
    const text = (await inspector.hget(keys.portalSessionsOf(account.id), id)) ?? ''
    return JSON.parse(text.slice(text.indexOf('{'))) as unknown
  }
  t.match(await written(), expected, 'in the portal')
  await store.touchPortalSession(account.id, id, { ...later, at: now })
  t.match(await written(), { ...expected, ...asStored(later) }, 'seen again')
})

function asStored({ address, userAgent }: typeof visitor) {
  return { address, client: userAgent }
}
