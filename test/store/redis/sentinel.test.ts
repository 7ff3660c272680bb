import t from 'tap'
import { until } from '../../setup/net.ts'
import { createAccount, newSigningKey, plain } from '../samples.ts'
import { runStoreSuite } from '../suite.ts'
import { openInspector, openStoreAt, optionsOf, prefixedPlaces } from './place.ts'
import { startSentinel } from './sentinel.ts'

const { name, port, master, replica, client } = await startSentinel(t)
const nodes = [{ host: '127.0.0.1', port }]
const options = optionsOf({ url: '' }, { place: { kind: 'sentinel', name, nodes, password: undefined } })

t.test('a master that Sentinel names is one store', async (t) => {
  runStoreSuite(t, prefixedPlaces(options))
})

t.test('when the master dies the store goes on with its heir', async (t) => {
  const store = await openStoreAt(t, { ...options, commandTimeoutMs: 250 })
  const account = await createAccount(store)
  const old = openInspector(t, master)
  await until('the replica has it', async () => (await old.wait(1, 100)) === 1 || undefined)
  await master.stop('SIGKILL')
  t.match(await store.findAccount(account.id).catch((error: unknown) => error), { code: 'store-unavailable' })
  const added = await until('the heir takes writes', () =>
    store.addSigningKey(newSigningKey()).catch(() => undefined),
  )
  t.equal(added, true)
  t.strictSame(plain(await store.findAccount(account.id)), plain(account))
  const current = await client.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name)
  t.strictSame(current, ['127.0.0.1', String(replica.port)])
})
