import t from 'tap'
import type { openRedisStore } from '../../../src/store/redis/store.ts'
import { createAccount, newKey, plain, startSession, useOf } from '../samples.ts'
import { runStoreSuite } from '../suite.ts'
import { type ClusterNode, ownerOf, startCluster } from './cluster.ts'
import { openStoreAt, optionsOf, prefixedPlaces } from './place.ts'

type RedisOptions = Parameters<typeof openRedisStore>[0]

const nodes = await startCluster(t)
const anyKey = 'gh:{account}:ids'

function clusterOptions(seeds: readonly ClusterNode[]): RedisOptions {
  const addresses = seeds.map(({ server }) => ({ host: '127.0.0.1', port: server.port }))
  return optionsOf({ url: '' }, { place: { kind: 'cluster', nodes: addresses } })
}

t.test('a Cluster is one store', async (t) => {
  runStoreSuite(t, prefixedPlaces(clusterOptions(nodes)))
})

t.test('one node is enough to find the others', async (t) => {
  const { id } = await ownerOf(nodes, anyKey)
  const strangers = nodes.filter((node) => node.id !== id)
  const store = await openStoreAt(t, clusterOptions(strangers.slice(0, 1)))
  const account = await createAccount(store)
  t.equal((await store.findAccount(account.id))?.id, account.id)
})

t.test('a slot that moves to another node while it is used takes nothing with it', async (t) => {
  const store = await openStoreAt(t, clusterOptions(nodes))
  const account = await createAccount(store)
  const session = await startSession(store, account)
  const from = await ownerOf(nodes, anyKey)
  const to = nodes.find(({ id }) => id !== from.id) ?? from
  await moveSlot(from, to)
  t.equal((await ownerOf([to], anyKey)).id, to.id)
  t.strictSame(plain(await store.findAccount(account.id)), plain(account))
  t.equal((await store.rotateSession(useOf(session))).kind, 'current')
  t.equal((await store.resetApiKey(account.id, newKey()))?.revision, 2)
})

/** As an operator would: first the keys, then word to all. */
async function moveSlot(from: ClusterNode, to: ClusterNode): Promise<void> {
  const slot = Number(await from.client.cluster('KEYSLOT', anyKey))
  await to.client.cluster('SETSLOT', slot, 'IMPORTING', from.id)
  await from.client.cluster('SETSLOT', slot, 'MIGRATING', to.id)
  const keys = (await from.client.cluster('GETKEYSINSLOT', slot, 100_000)) as string[]
  await from.client.call('MIGRATE', '127.0.0.1', to.server.port, '', 0, 5_000, 'KEYS', ...keys)
  for (const { client } of [to, from, ...nodes]) await client.cluster('SETSLOT', slot, 'NODE', to.id)
}
