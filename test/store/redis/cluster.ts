import type { Redis } from 'ioredis'
import type { Test } from 'tap'
import { freePort, until } from '../../setup/net.ts'
import { type RedisServer, startRedis } from '../../setup/redis.ts'
import { openInspector } from './place.ts'

export interface ClusterNode {
  readonly server: RedisServer
  readonly client: Redis
  readonly id: string
}

const slots = 16_384

/** A Cluster of three masters on this machine, each with a third of the slots. */
export async function startCluster(t: Test): Promise<readonly ClusterNode[]> {
  const busPorts = await Promise.all([freePort(), freePort(), freePort()])
  const nodes = await Promise.all(busPorts.map((busPort) => startNode(t, busPort)))
  for (const [index, { client, server }] of nodes.entries()) {
    const first = Math.floor((index * slots) / nodes.length)
    const last = Math.floor(((index + 1) * slots) / nodes.length) - 1
    await client.cluster('ADDSLOTSRANGE', first, last)
    // Each its own epoch, or two that meet would argue about it first.
    await client.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1)
    for (const [other, busPort] of busPorts.entries()) {
      const { port } = nodes[other]?.server ?? server
      if (port !== server.port) await client.call('CLUSTER', 'MEET', '127.0.0.1', port, busPort)
    }
  }
  for (const { client } of nodes) {
    await until('the cluster is whole', async () => {
      const info = String(await client.cluster('INFO'))
      return (info.includes('cluster_state:ok') && info.includes('cluster_known_nodes:3')) || undefined
    })
  }
  return nodes
}

async function startNode(t: Test, busPort: number): Promise<ClusterNode> {
  const args = [
    '--cluster-enabled',
    'yes',
    '--cluster-port',
    String(busPort),
    '--cluster-node-timeout',
    '2000',
  ]
  const server = await startRedis(t, args)
  const client = openInspector(t, server)
  const id = await client.cluster('MYID')
  return { server, client, id: String(id) }
}

/** The node that has a slot now. */
export async function ownerOf(nodes: readonly ClusterNode[], key: string): Promise<ClusterNode> {
  const [node] = nodes
  if (!node) throw new Error('there are no nodes')
  const slot = Number(await node.client.cluster('KEYSLOT', key))
  const ranges = await node.client.cluster('SLOTS')
  const range = ranges.find(([first, last]) => first <= slot && slot <= last)
  const owner = nodes.find(({ id }) => id === range?.[2]?.[2])
  if (!owner) throw new Error(`nobody has slot ${slot}`)
  return owner
}
