import { Redis } from 'ioredis'
import { freePort, until } from './net.ts'
import { type RedisServer, type Scope, startRedis } from './redis.ts'

export interface ClusterMaster {
  readonly server: RedisServer
  readonly busPort: number
  readonly client: Redis
  readonly id: string
}

const slots = 16_384

/** A real Cluster of three masters without replicas, each with a third of the slots. */
export async function startRedisCluster(scope: Scope): Promise<readonly [ClusterMaster, ...ClusterMaster[]]> {
  const first = await startMaster(scope, 0)
  const masters = [first, await startMaster(scope, 1), await startMaster(scope, 2)] as const
  for (const { client } of masters) {
    for (const { server, busPort } of masters) {
      await client.call('CLUSTER', 'MEET', '127.0.0.1', server.port, busPort)
    }
  }
  await until('the cluster is whole', async () => {
    const infos = await Promise.all(masters.map(({ client }) => client.cluster('INFO')))
    const lines = ['cluster_state:ok', 'cluster_known_nodes:3']
    return infos.every((info) => lines.every((line) => String(info).includes(line))) || undefined
  })
  return [...masters]
}

async function startMaster(scope: Scope, index: number): Promise<ClusterMaster> {
  const busPort = await freePort()
  const server = await startRedis(scope, ['--cluster-enabled', 'yes', '--cluster-port', String(busPort)])
  const client = new Redis(server.url)
  client.on('error', () => {})
  scope.teardown(() => client.disconnect())
  // Each its own epoch, or two that meet would argue about it first.
  await client.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1)
  const start = Math.floor((index * slots) / 3)
  await client.cluster('ADDSLOTSRANGE', start, Math.floor(((index + 1) * slots) / 3) - 1)
  return { server, busPort, client, id: String(await client.cluster('MYID')) }
}

/** The master that has the slot of a key, and one that has not. */
export async function ownerAndOther(masters: readonly ClusterMaster[], key: string) {
  for (const owner of masters) {
    const slot = Number(await owner.client.cluster('KEYSLOT', key))
    const ranges = await owner.client.cluster('SLOTS')
    const range = ranges.find(([first, last]) => first <= slot && slot <= last)
    const other = masters.find(({ id }) => id !== owner.id)
    if (range?.[2]?.[2] === owner.id && other) return { owner, other, slot }
  }
  throw new Error(`nobody has the slot of ${key}`)
}

/**
 * Moves the slot of a key to another master while it is used, as `redis-cli --cluster reshard` does, but one key at a
 * time and in no order: so each script meets each split of its keys.
 * @param onKey called after each key
 * @returns how many keys went
 */
export async function reshard(
  masters: readonly ClusterMaster[],
  anyKey: string,
  onKey: (moved: number) => Promise<void> = async () => {},
): Promise<number> {
  const { owner, other, slot } = await ownerAndOther(masters, anyKey)
  await other.client.cluster('SETSLOT', slot, 'IMPORTING', owner.id)
  await owner.client.cluster('SETSLOT', slot, 'MIGRATING', other.id)
  let moved = 0
  for (;;) {
    const keys = (await owner.client.cluster('GETKEYSINSLOT', slot, 1_000)) as string[]
    if (keys.length === 0) break
    for (const key of keys.toSorted(() => Math.random() - 0.5)) {
      await owner.client.migrate('127.0.0.1', other.server.port, key, 0, 5_000)
      moved++
      await onKey(moved)
    }
  }
  for (const { client } of [other, owner, ...masters]) {
    await client.cluster('SETSLOT', slot, 'NODE', other.id)
  }
  return moved
}
