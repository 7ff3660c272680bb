import t from 'tap'
import type { AccountBatch } from '#store/accounts.ts'
import { startRedis } from '../../setup/redis.ts'
import { createAccount, newAccount } from '../samples.ts'
import { openStoreAt, optionsOf } from './place.ts'

t.test('an Admin of an import that can still fail does not count as another Admin', async (t) => {
  const store = await openStoreAt(t, optionsOf(await startRedis(t)))
  const admin = await createAccount(store, { role: 'Admin' })
  const imported = newAccount({ role: 'Admin' })
  async function* failing(): AsyncGenerator<AccountBatch> {
    yield { accounts: [newAccount(), imported], audit: [] }
    t.equal(await store.deleteAccount(admin.id), 'last-admin')
    throw new Error('the file ends early')
  }
  await t.rejects(store.importAccounts(failing()), { message: 'the file ends early' })
  t.equal(await store.findAccount(imported.id), undefined)
  t.match(await store.findAccount(admin.id), { role: 'Admin' })
})

t.test('Admins of all batches are created with the import, and count from then on', async (t) => {
  const store = await openStoreAt(t, optionsOf(await startRedis(t)))
  const batches = [
    [newAccount({ role: 'Admin' }), newAccount()],
    [newAccount(), newAccount({ role: 'Admin' })],
  ]
  async function* all(): AsyncGenerator<AccountBatch> {
    for (const accounts of batches) yield { accounts, audit: [] }
  }
  t.strictSame(await store.importAccounts(all()), { kind: 'created' })
  for (const { id, role } of batches.flat()) t.equal((await store.findAccount(id))?.role, role)
  const [[first] = [], [, second] = []] = batches
  t.equal(await store.deleteAccount(first?.id ?? ''), 'deleted')
  t.equal(await store.deleteAccount(second?.id ?? ''), 'last-admin')
})

t.test('an Admin who is far down the list is found', async (t) => {
  const store = await openStoreAt(t, optionsOf(await startRedis(t)))
  const old = await createAccount(store, { role: 'Admin', createdAt: 1 })
  await store.createAccounts(Array.from({ length: 1_001 }, () => newAccount()))
  const { id } = await createAccount(store, { role: 'Admin' })
  t.equal(await store.deleteAccount(id), 'deleted')
  t.equal(await store.deleteAccount(old.id), 'last-admin')
})
