import type { CreatedAccount } from '#accounts/accounts.ts'
import { until } from '../../test/setup/net.ts'
import { redisCommand, startRedis } from '../../test/setup/redis.ts'
import { startSentinel } from '../../test/setup/sentinel.ts'
import type { Scope } from '../scope.ts'
import { startBackend } from './backend.ts'
import { startBackgroundLoad } from './background-load.ts'
import { dumpAll, restoreAll } from './backup.ts'
import { startBlackholeProxy } from './blackhole-proxy.ts'
import { createClient, type DrillClient } from './client.ts'
import type { Report } from './figures.ts'
import { type InstanceGroup, startInstanceGroup } from './instance-group.ts'
import { startWriter } from './writer.ts'

const known = 12
const unknown = 60
const outageMs = 3_000
/** Accounts whose keys are reset throughout. */
const written = 40

/** An outage of the store, and its recovery. */
interface Scene {
  readonly name: string
  breakStore(): Promise<void>
  mendStore(): Promise<void>
  /** Instances that lose the store; undefined = all. */
  readonly affected?: readonly number[]
  /** Whether it may recover before it is repaired. */
  readonly mendsItself?: boolean
}

/** The store fails in five ways: cached callers notice nothing, and nothing is lost. */
export async function outage(scope: Scope, report: Report, args: readonly string[]): Promise<void> {
  const client = createClient()
  scope.teardown(client.close)
  const scenes = { alone: aloneScenes, failover: failoverScene }
  for (const [name, run] of Object.entries(scenes)) {
    if (args.length === 0 || args.includes(name)) await run(scope, report, client)
  }
}

async function aloneScenes(scope: Scope, report: Report, client: DrillClient): Promise<void> {
  const redis = await startRedis(scope, ['--appendonly', 'yes', '--appendfsync', 'everysec'])
  const valve = await startBlackholeProxy(scope, redis.port)
  const stores = [{ url: redis.url }, { url: redis.url }, { url: `redis://127.0.0.1:${valve.port}` }]
  const fleet = await startInstanceGroup(scope, { backendUrl: await startBackend(scope), stores })
  let copy: Awaited<ReturnType<typeof dumpAll>> = []
  const scenes: readonly Scene[] = [
    {
      name: 'paused (SIGSTOP)',
      breakStore: async () => redis.signal('SIGSTOP'),
      mendStore: async () => redis.signal('SIGCONT'),
    },
    {
      name: 'killed (-9) and restarted',
      breakStore: () => redis.stop('SIGKILL'),
      mendStore: () => redis.start(),
    },
    {
      name: 'out of reach of one instance',
      breakStore: async () => valve.shut(),
      mendStore: async () => valve.open(),
      affected: [2],
    },
    {
      name: 'flushed, and brought back',
      breakStore: async () => {
        copy = await dumpAll(redis.url)
        await redisCommand(redis.port, 'FLUSHALL')
      },
      mendStore: () => restoreAll(redis.url, copy),
    },
  ]
  for (const [index, scene] of scenes.entries()) await play(report, client, fleet, scene, index)
}

async function failoverScene(scope: Scope, report: Report, client: DrillClient): Promise<void> {
  const sentinel = await startSentinel(scope, { args: ['--appendonly', 'yes'] })
  const nodes = sentinel.sentinelPorts.map((port) => `127.0.0.1:${port}`)
  const stores = Array.from({ length: 3 }, () => ({ sentinel: { name: sentinel.masterName, nodes } }))
  const fleet = await startInstanceGroup(scope, { backendUrl: await startBackend(scope), stores })
  const [master] = sentinel.servers
  const scene: Scene = {
    name: 'failed over by Sentinel',
    mendsItself: true,
    breakStore: async () => master?.stop('SIGKILL'),
    mendStore: async () => {
      await until(
        'there is another master',
        async () => (await sentinel.masterPort()) !== master?.port || undefined,
        30_000,
      )
    },
  }
  await play(report, client, fleet, scene, 9)
}

async function play(
  report: Report,
  client: DrillClient,
  fleet: InstanceGroup,
  scene: Scene,
  round: number,
): Promise<void> {
  report.line(`\n${scene.name}`)
  const accounts = await createAccounts(fleet, round)
  const crowd = await startBackgroundLoad(client, fleet, accounts.slice(0, known))
  const [revoked, ...toWrite] = accounts.slice(known + unknown)
  if (!revoked) throw new Error('no account to revoke')
  await fleet.operate(({ defaultKeys }) => defaultKeys.resetSecretKey(revoked.account.id, 0))
  const writer = await startWriter(fleet, toWrite)

  await scene.breakStore()
  const affected = fleet.instances.filter((_, index) => scene.affected?.includes(index) ?? true)
  const visits = await visitAsStrangers(client, affected, accounts.slice(known, known + unknown))
  await scene.mendStore()
  await until('every instance is whole again', () => areWhole(client, fleet), 30_000)

  const { answered, failed, broken } = await crowd.stop()
  const others = failed + broken
  report.demand('known principals are served', others === 0, `${answered} answers, ${others} others`)
  const statuses = [...new Set(visits.map(({ status }) => status))].toSorted()
  const isRight = statuses.every((status) => status === 503 || (status === 200 && scene.mendsItself === true))
  report.demand('unknown ones get 503, never 401', isRight, `${visits.length} visits: ${statuses.join(', ')}`)
  const slowestMs = Math.max(...visits.map(({ ms }) => ms))
  report.demand('within 500 ms', slowestMs <= 500, `slowest ${slowestMs.toFixed(0)} ms`)
  const revokedAnswers = await askAll(client, fleet, revoked)
  const isRefused = revokedAnswers.every((status) => status === 401)
  report.demand('no revoked key works', isRefused, revokedAnswers.join(', '))
  const written = await writer.stop(client)
  report.demand(
    'no acknowledged change is missing',
    written.missing === 0,
    `${written.answered} resets, ${written.missing} missing`,
  )
}

interface Visit {
  readonly status: number
  readonly ms: number
}

/** Keys that no instance has seen before, spread over the time of the outage. */
async function visitAsStrangers(
  client: DrillClient,
  instances: InstanceGroup['instances'],
  strangers: readonly CreatedAccount[],
): Promise<readonly Visit[]> {
  const visits = strangers.map(async ({ secretKey }, index) => {
    await new Promise((resolve) => setTimeout(resolve, (index / strangers.length) * outageMs))
    const sentAt = performance.now()
    const status = await client.get(instances[index % instances.length]?.url ?? '', { SecretKey: secretKey })
    return { status, ms: performance.now() - sentAt }
  })
  return Promise.all(visits)
}

function askAll(
  client: DrillClient,
  { instances }: InstanceGroup,
  { secretKey }: CreatedAccount,
): Promise<number[]> {
  return Promise.all(instances.map(({ url }) => client.get(url, { SecretKey: secretKey })))
}

async function areWhole(client: DrillClient, { instances }: InstanceGroup): Promise<true | undefined> {
  const answers = await Promise.all(instances.map(({ opsUrl }) => client.text(`${opsUrl}/readyz`)))
  return answers.every((answer) => answer.includes('"ok"')) || undefined
}

function createAccounts(fleet: InstanceGroup, round: number): Promise<readonly CreatedAccount[]> {
  return fleet.operate(({ accounts }) =>
    accounts.createAll(
      Array.from({ length: known + unknown + 1 + written }, (_, index) => ({
        email: `round${round}-${index}@example.com`,
        firstName: '',
        lastName: '',
        role: 'User',
        isVerified: true,
      })),
    ),
  )
}
