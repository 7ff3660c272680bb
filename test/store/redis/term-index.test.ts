import { Redis } from 'ioredis'
import t from 'tap'
import type { Account } from '#store/accounts.ts'
import { createKeyNames } from '#store/redis/data-layout.ts'
import { startRedis } from '../../setup/redis.ts'
import { createAccount, now } from '../samples.ts'
import { openStoreAt, optionsOf } from './place.ts'

t.test('accounts of before come last in the list, each once', async (t) => {
  const server = await startRedis(t)
  const store = await openStoreAt(t, optionsOf(server))
  const client = new Redis(server.url)
  t.teardown(() => client.disconnect())
  const old: Account[] = []
  for (let count = 0; count < 7; count++) old.push(await createAccount(store, { createdAt: now - 1_000 }))
  for (const { id } of old) await client.zadd(createKeyNames('gh:').ids, 0, id)
  const fresh = [await createAccount(store), await createAccount(store, { createdAt: now - 1 })]
  const seen: Account[] = []
  for (let page = await store.listAccounts({ after: undefined, limit: 2 }); page.length > 0; ) {
    seen.push(...page)
    page = await store.listAccounts({ after: page.at(-1), limit: 2 })
  }
  t.strictSame(
    seen.map(({ id }) => id),
    [
      ...fresh.map(({ id }) => id),
      ...old
        .map(({ id }) => id)
        .toSorted()
        .reverse(),
    ],
  )
  const [gone, ...rest] = seen.slice(4)
  await store.deleteAccount(gone?.id ?? '')
  const after = await store.listAccounts({ after: gone, limit: 10 })
  t.equal(after.at(-1)?.id, rest.at(-1)?.id, 'none of them is left out after one that is gone')
})

t.test(
  'accounts of before are found by what their index has, and once changed by all they have',
  async (t) => {
    const server = await startRedis(t)
    const store = await openStoreAt(t, optionsOf(server))
    const { id } = await createAccount(store, { email: 'lovelace.ada@example.com', firstName: 'Augusta' })
    const client = new Redis(server.url)
    t.teardown(() => client.disconnect())
    for (const term of ['ada', 'example.com']) {
      t.equal(await client.zrem(createKeyNames('gh:').terms, `${term}\0${id}`), 1)
    }
    const found = async (word: string) => {
      const { accounts } = await store.searchAccounts({ words: [word], after: undefined, limit: 5 })
      return accounts.length
    }
    for (const word of ['love', 'lovelace.ada@', 'augusta', 'a']) t.equal(await found(word), 1, word)
    t.equal(await found('example'), 0)
    await store.updateAccount(id, { firstName: 'Ada' })
    for (const word of ['love', 'ada', 'example']) t.equal(await found(word), 1, word)
  },
)
