import t from 'tap'
import { until } from '../../setup/net.ts'
import { createAccount, newKey, plain, startSession, useOf } from '../samples.ts'
import { runStoreSuite } from '../suite.ts'
import { credentials, userArgs } from './acl-user.ts'
import { certificate, writeCertificate } from './certificate.ts'
import { type ClusterNode, nodeTimeoutMs, ownerOf, setNodeTimeout, startCluster } from './cluster.ts'
import { surviveFailover } from './failover.ts'
import { openStoreAt, optionsOf, prefixedPlaces, type RedisOptions } from './place.ts'

// slow: a Redis Cluster of six servers

// Servers that find each other and fail over take longer than other tests.
t.setTimeout(120_000)

const nodes = await startCluster(t, userArgs, writeCertificate(t))
// Until one of them is to fail over: a node that counts as down makes the others refuse keys that move to them.
await setNodeTimeout(nodes, 60_000)
const anyKey = 'gh:{account}:ids'

function clusterOptions(seeds: readonly ClusterNode[]): RedisOptions {
  const addresses = seeds.map(({ server }) => ({ host: '127.0.0.1', port: server.tlsPort ?? 0 }))
  const topology = { kind: 'cluster', nodes: addresses } as const
  return optionsOf({ url: '' }, { topology, tls: { verify: true, ca: certificate }, ...credentials })
}

t.test('a Cluster is one store', async (t) => {
  runStoreSuite(t, prefixedPlaces({ ...clusterOptions(nodes), replicas: 1 }))
})

t.test('one Cluster node is enough to find the others', async (t) => {
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
  const to = nodes.slice(0, 3).find(({ id }) => id !== from.id) ?? from
  await moveSlot(from, to)
  t.equal((await ownerOf([to], anyKey)).id, to.id)
  t.strictSame(plain(await store.findAccount(account.id)), plain(account))
  t.equal((await store.rotateSession(useOf(session))).kind, 'current')
  t.equal((await store.resetApiKey(account.id, { apiKey: newKey() }))?.revision, 2)
})

t.test('waiting for replicas follows a moved slot', async (t) => {
  const store = await openStoreAt(t, { ...clusterOptions(nodes), replicas: 1 })
  const account = await createAccount(store)
  const from = await ownerOf(nodes, anyKey)
  const to = nodes.slice(0, 3).find(({ id }) => id !== from.id) ?? from
  await moveSlot(from, to)
  const resets = Array.from({ length: 10 }, () => store.resetApiKey(account.id, { apiKey: newKey() }))
  t.ok((await Promise.all(resets)).every((reset) => reset !== undefined))
  t.equal((await store.findAccount(account.id))?.revision, 11)
})

t.test('when the master of the slot dies its replica goes on, and nothing answered is lost', async (t) => {
  await setNodeTimeout(nodes, nodeTimeoutMs)
  const owner = await ownerOf(nodes, anyKey)
  const others = nodes.filter(({ id }) => id !== owner.id)
  await surviveFailover(t, clusterOptions(nodes), async () => {
    await owner.server.stop('SIGKILL')
    await until(
      'there is an heir',
      async () => (await ownerOf(others, anyKey).catch(() => owner)).id !== owner.id || undefined,
      30_000,
    )
    // Now a replica: without one no change is answered.
    await owner.server.start()
  })
})

/** As an operator would: first the keys, then word to all. It ends once every node has heard of it. */
async function moveSlot(from: ClusterNode, to: ClusterNode): Promise<void> {
  const slot = Number(await from.client.cluster('KEYSLOT', anyKey))
  await to.client.cluster('SETSLOT', slot, 'IMPORTING', from.id)
  await from.client.cluster('SETSLOT', slot, 'MIGRATING', to.id)
  const keys = (await from.client.cluster('GETKEYSINSLOT', slot, 100_000)) as string[]
  await from.client.call('MIGRATE', '127.0.0.1', to.server.tlsPort ?? 0, '', 0, 5_000, 'KEYS', ...keys)
  // Replicas learn it from their masters.
  for (const { client } of [to, from, ...nodes.slice(0, 3)])
    await client.cluster('SETSLOT', slot, 'NODE', to.id)
  await until('all nodes name the new owner', async () => {
    const owners = await Promise.all(nodes.map((node) => ownerOf([node, ...nodes], anyKey)))
    return owners.every(({ id }) => id === to.id) || undefined
  })
}
