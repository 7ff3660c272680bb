import t from 'tap'
import { createKeys } from '../../../src/store/redis/keys.ts'
import { startRedis } from '../../setup/redis.ts'
import { createAccount } from '../samples.ts'
import { openInspector, openStoreAt, optionsOf } from './place.ts'

t.test('accounts of before are in the first epoch of their role, until that changes', async (t) => {
  const server = await startRedis(t)
  const store = await openStoreAt(t, optionsOf(server))
  const { id } = await createAccount(store, { role: 'User' })
  const client = openInspector(t, server)
  const key = createKeys('gh:').account(id)
  const { roleEpoch: _, ...before } = JSON.parse((await client.get(key)) ?? '')
  await client.set(key, JSON.stringify(before))
  t.match(await store.findAccount(id), { roleEpoch: 1 })
  t.match(await store.updateAccount(id, { role: 'Admin' }), { account: { roleEpoch: 2 } })
  t.match(await store.findAccount(id), { role: 'Admin', roleEpoch: 2 })
})
