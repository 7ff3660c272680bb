import t from 'tap'
import { OperatorError } from '../../../src/errors.ts'
import { openRedisStore } from '../../../src/store/redis/store.ts'
import { startRedis } from '../../setup/redis.ts'
import { assertUnavailable } from '../cases/every-verb.ts'
import { createAccount } from '../samples.ts'
import { runStoreSuite } from '../suite.ts'
import { openStoreAt, optionsOf, prefixedPlaces } from './place.ts'

const password = 'a p@ss:word/with?everything#'

t.test('a user with rights on its own keys and channels alone is enough', async (t) => {
  const rules = ['on', `>${password}`, '~gh:*', '&gh:*', '+@all', '-@dangerous']
  const server = await startRedis(t, ['--user', 'default', 'off', '--user', 'gatehouse', ...rules])
  runStoreSuite(t, prefixedPlaces(optionsOf(server, { username: 'gatehouse', password })))

  t.test('a user without rights on the keys gets no answers', async (t) => {
    const options = optionsOf(server, { username: 'gatehouse', password })
    const elsewhere = openRedisStore({ ...options, keyPrefix: 'other:' })
    t.teardown(() => elsewhere.close())
    await elsewhere.ready(5_000)
    await assertUnavailable(t, elsewhere)
  })
})

t.test('a server with a password takes the right one only', async (t) => {
  const server = await startRedis(t, ['--requirepass', password])
  const store = await openStoreAt(t, optionsOf(server, { password }))
  const { id } = await createAccount(store)
  t.equal((await store.findAccount(id))?.id, id)
  for (const wrong of [undefined, `${password}.`]) {
    const stranger = openRedisStore(optionsOf(server, { password: wrong }))
    t.teardown(() => stranger.close())
    const refusal = await stranger.ready(500).catch((error: unknown) => error)
    t.ok(refusal instanceof OperatorError)
    t.match(refusal, { message: /NOAUTH|WRONGPASS/ }, 'the operator is told why')
    t.notMatch(refusal, { message: password })
    await assertUnavailable(t, stranger)
  }
})

t.test('a password may come with the URL', async (t) => {
  const server = await startRedis(t, ['--requirepass', password])
  const url = `redis://:${encodeURIComponent(password)}@127.0.0.1:${server.port}/3`
  const store = await openStoreAt(t, optionsOf({ url }))
  const { id } = await createAccount(store)
  t.equal((await store.findAccount(id))?.id, id)
})
