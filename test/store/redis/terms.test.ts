import { Redis } from 'ioredis'
import t from 'tap'
import { createKeys } from '../../../src/store/redis/keys.ts'
import { startRedis } from '../../setup/redis.ts'
import { createAccount } from '../samples.ts'
import { openStoreAt, optionsOf } from './place.ts'

t.test(
  'accounts of before are found by what their index has, and once changed by all they have',
  async (t) => {
    const server = await startRedis(t)
    const store = await openStoreAt(t, optionsOf(server))
    const { id } = await createAccount(store, { email: 'lovelace.ada@example.com', firstName: 'Augusta' })
    const client = new Redis(server.url)
    t.teardown(() => client.disconnect())
    for (const term of ['ada', 'example.com']) {
      t.equal(await client.zrem(createKeys('gh:').terms, `${term}\0${id}`), 1)
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
