import { until } from '../../test/setup/net.ts'
import { type RedisServer, startRedis } from '../../test/setup/redis.ts'
import { startSentinel } from '../../test/setup/sentinel.ts'
import { ownerOf, startCluster } from '../../test/store/redis/cluster.ts'
import type { Scope } from '../scope.ts'
import { startBackend } from './backend.ts'
import { createClient, type DrillClient } from './client.ts'
import type { Report } from './figures.ts'
import { type InstanceGroup, startInstanceGroup } from './instance-group.ts'
import { replayStolenTokens, type TokenTheft } from './replay-stolen-tokens.ts'
import { sendRefresh, startSessionOwners } from './session-owners.ts'

const owners = 40
/** Sessions of which a token is stolen in each phase. */
const victims = 5
const settledWithinMs = 60_000

/** Where sessions are kept, and how it loses its master. */
interface Topology {
  /** `store.redis`. */
  readonly redis: object
  breakStore(): Promise<void>
  /** Whether another master accepts writes, though no replica may confirm them. */
  hasHeir(): Promise<boolean>
  mendStore(): Promise<unknown>
}

const topologies: Readonly<Record<string, (scope: Scope) => Promise<Topology>>> = {
  'sentinel-1+1': (scope) => sentinelOf(scope, 1),
  'sentinel-1+2': (scope) => sentinelOf(scope, 2),
  'cluster-3+3': clusterOf,
  paused: pausedOf,
}

const aofArgs = ['--appendonly', 'yes']

/**
 * The master is lost under refreshes: no session ends, and stolen tokens are detected.
 * @param args one of the topologies, or all; after how many seconds the master is back; `short` = with a grace of 1 s
 */
export async function failover(_scope: Scope, report: Report, args: readonly string[]): Promise<void> {
  const asked = Object.entries(topologies).filter(([name]) => args.includes(name))
  const seconds = args.map(Number).filter((number) => number > 0)
  const isShort = args.includes('short')
  const all = isShort ? [1, 2] : [1, 25, 120]
  for (const [name, open] of asked.length > 0 ? asked : Object.entries(topologies)) {
    const standard = name === 'paused' ? [isShort ? 2 : 14] : all
    for (const backAfter of seconds.length > 0 ? seconds : standard) {
      report.line(`\n${name}, master back after ${backAfter} s`)
      await withScope((inner) => play(inner, report, open, { backAfter, graceS: isShort ? 1 : 10 }))
    }
  }
}

/** Each scenario stops what it has started: the next needs the machine. */
async function withScope(work: (scope: Scope) => Promise<void>): Promise<void> {
  const ends: (() => unknown)[] = []
  try {
    await work({ teardown: (end) => void ends.push(end) })
  } finally {
    for (const end of ends.toReversed()) await end()
  }
}

async function play(
  scope: Scope,
  report: Report,
  open: (scope: Scope) => Promise<Topology>,
  { backAfter, graceS }: { readonly backAfter: number; readonly graceS: number },
): Promise<void> {
  const topology = await open(scope)
  const client = createClient()
  scope.teardown(client.close)
  const stores = Array.from({ length: 3 }, () => topology.redis)
  const config = { tokens: { reuseGrace: `${graceS}s` } }
  const fleet = await startInstanceGroup(scope, { backendUrl: await startBackend(scope), stores, config })
  const phases = ['before', 'no master', 'no replica', 'back']
  const tokens = await startSessions(client, fleet, owners + phases.length * victims)
  const crowd = startSessionOwners(client, fleet, tokens.splice(0, owners))
  const thefts: TokenTheft[] = []
  const stealIn = (phase: string) => {
    thefts.push(
      ...replayStolenTokens({ client, fleet, phase, graceMs: graceS * 1_000 }, tokens.splice(0, victims)),
    )
  }
  await crowd.until('everybody has refreshed', ({ refreshes }) => refreshes > 2, settledWithinMs)

  stealIn('before')
  await topology.breakStore()
  const brokenAt = performance.now()
  stealIn('no master')
  let isMended = false
  // A master that recovers soon enough is not replaced.
  const hasHeir = async () => isMended || (await topology.hasHeir().catch(() => false)) || undefined
  const heir = until('there is a master', hasHeir, 200_000).then(() => stealIn('no replica'))
  await pause(backAfter * 1_000)
  await topology.mendStore()
  isMended = true
  await heir
  const backAt = performance.now()
  stealIn('back')
  await until('everybody has refreshed again', () => crowd.allSince(backAt), settledWithinMs).catch(() => {})
  const { refreshes, refused, lost, longestMs, unserved } = await crowd.stop(backAt)
  const isReplaced = await topology.hasHeir().catch(() => false)
  report.line(`another master ${isReplaced ? 'took over' : 'was not needed'}`)
  report.line(
    `${refreshes} refreshes, ${refused} answered 503; back ${seconds(backAt - brokenAt)} s after the fault`,
  )
  report.line(`the token that waited longest worked after ${seconds(longestMs)} s`)
  report.demand(
    'sessions lost',
    lost.length === 0,
    `${lost.length} of ${owners} ${[...new Set(lost)].join(', ')}`,
  )
  report.demand('everybody goes on', unserved === 0, `${owners - unserved} of ${owners}`)
  await reportThefts(report, phases, thefts)
}

async function reportThefts(
  report: Report,
  phases: readonly string[],
  thefts: readonly TokenTheft[],
): Promise<void> {
  for (const phase of phases) {
    const found = await Promise.all(thefts.filter((theft) => theft.phase === phase).map(({ found }) => found))
    const count = (what: string) => found.filter((each) => each === what).length
    const figures = `${count('at once')} at once, ${count('next use')} at the next use, ${count('missed')} missed`
    report.demand(`reuse, stolen in the phase "${phase}"`, count('missed') === 0 && found.length > 0, figures)
  }
}

async function startSessions(client: DrillClient, fleet: InstanceGroup, count: number): Promise<string[]> {
  const accounts = await fleet.createAccounts(count)
  const [{ url } = { url: '' }] = fleet.instances
  const tokens: string[] = []
  for (const { secretKey, apiKey } of accounts) {
    const keys = { SecretKey: secretKey, APIKey: apiKey }
    const { body } = await client.post(`${url}/api/v1/accounts/access-token`, keys)
    const { answer } = await sendRefresh(client, fleet, String(body.RefreshToken))
    tokens.push(String(answer.refreshToken))
  }
  return tokens
}

async function sentinelOf(scope: Scope, replicas: number): Promise<Topology> {
  const sentinel = await startSentinel(scope, { args: aofArgs, replicas })
  const nodes = sentinel.sentinelPorts.map((port) => `127.0.0.1:${port}`)
  const [master] = sentinel.servers
  return {
    redis: { sentinel: { name: sentinel.masterName, nodes } },
    breakStore: async () => master?.stop('SIGKILL'),
    hasHeir: async () => (await sentinel.masterPort()) !== master?.port,
    mendStore: async () => master?.start(),
  }
}

async function clusterOf(scope: Scope): Promise<Topology> {
  const nodes = await startCluster(scope, aofArgs)
  const master = await ownerOf(nodes, 'gh:{account}:')
  const others = nodes.filter((node) => node !== master)
  return {
    redis: { cluster: { nodes: nodes.map(({ server }) => `127.0.0.1:${server.port}`) } },
    breakStore: () => master.server.stop('SIGKILL'),
    hasHeir: async () => (await ownerOf(others, 'gh:{account}:')) !== master,
    mendStore: () => master.server.start(),
  }
}

async function pausedOf(scope: Scope): Promise<Topology> {
  const redis: RedisServer = await startRedis(scope, aofArgs)
  return {
    redis: { url: redis.url },
    breakStore: async () => redis.signal('SIGSTOP'),
    hasHeir: async () => false,
    mendStore: async () => redis.signal('SIGCONT'),
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(1)
}
