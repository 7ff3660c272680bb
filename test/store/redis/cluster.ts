import type { Redis } from 'ioredis'
import { freePort, until } from '../../setup/net.ts'
import { type RedisServer, type Scope, startRedis, type TlsFiles } from '../../setup/redis.ts'
import { openInspector } from './place.ts'

export interface ClusterNode {
  readonly server: RedisServer
  readonly busPort: number
  readonly client: Redis
  readonly id: string
}

const slots = 16_384
const masters = 3
/** How soon a silent node counts as down; nodes also hear of each other the sooner the shorter it is. */
export const nodeTimeoutMs = 1_000

/** A Cluster of three masters on this machine, each with a third of the slots and one replica: masters first. */
export async function startCluster(
  scope: Scope,
  args: readonly string[],
  tls?: TlsFiles,
): Promise<readonly ClusterNode[]> {
  const nodes = await Promise.all(Array.from({ length: 2 * masters }, () => startNode(scope, args, tls)))
  for (const [index, { client }] of nodes.entries()) {
    // Each its own epoch, or two that meet would argue about it first.
    await client.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1)
    if (index >= masters) continue
    const first = Math.floor((index * slots) / masters)
    await client.cluster('ADDSLOTSRANGE', first, Math.floor(((index + 1) * slots) / masters) - 1)
  }
  for (const { client } of nodes) {
    for (const { server, busPort } of nodes) {
      await client.call('CLUSTER', 'MEET', '127.0.0.1', server.tlsPort ?? server.port, busPort)
    }
  }
  await untilAll(nodes, 'cluster_state:ok', `cluster_known_nodes:${nodes.length}`)
  for (const [index, { client }] of nodes.entries()) {
    if (index >= masters) await client.cluster('REPLICATE', nodes[index - masters]?.id ?? '')
  }
  await until('every master has its replica', async () => {
    const infos = await Promise.all(nodes.map(({ client }) => client.info('replication')))
    return infos.filter((info) => info.includes('state=online')).length === masters || undefined
  })
  // A node that has not heard that another is a replica would not vote for it.
  await until('all know who is a replica', async () => {
    const views = await Promise.all(nodes.map(({ client }) => client.cluster('NODES')))
    return views.every((view) => String(view).match(/ (myself,)?slave /g)?.length === masters) || undefined
  })
  return nodes
}

async function untilAll(nodes: readonly ClusterNode[], ...lines: readonly string[]): Promise<void> {
  await until('the cluster is whole', async () => {
    const infos = await Promise.all(nodes.map(({ client }) => client.cluster('INFO')))
    return infos.every((info) => lines.every((line) => String(info).includes(line))) || undefined
  })
}

async function startNode(scope: Scope, args: readonly string[], tls?: TlsFiles): Promise<ClusterNode> {
  const busPort = await freePort()
  const clusterArgs = [
    '--cluster-enabled',
    'yes',
    '--cluster-port',
    String(busPort),
    '--cluster-node-timeout',
    String(nodeTimeoutMs),
    '--repl-diskless-sync-delay',
    '0',
  ]
  const server = await startRedis(scope, [...clusterArgs, ...args], tls)
  const client = openInspector(scope, server)
  return { server, busPort, client, id: String(await client.cluster('MYID')) }
}

/** Sets how soon a silent node counts as down, such as one that a busy machine does not run for a while. */
export async function setNodeTimeout(nodes: readonly ClusterNode[], ms: number): Promise<void> {
  for (const { client } of nodes) await client.config('SET', 'cluster-node-timeout', ms)
  await untilAll(nodes, 'cluster_state:ok')
}

/** The node that has the slot of a key now, as another node sees it. */
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
