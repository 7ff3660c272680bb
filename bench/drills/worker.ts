import { until } from '../../test/setup/net.ts'
import { startRedis } from '../../test/setup/redis.ts'
import { childrenOf } from '../process-tree.ts'
import type { Scope } from '../scope.ts'
import { startBackend } from './backend.ts'
import { startBackgroundLoad } from './background-load.ts'
import { createClient } from './client.ts'
import type { Report } from './figures.ts'
import { type Instance, startInstanceGroup } from './instance-group.ts'

const known = 40
const workers = 2
/** How many workers are killed, one after the other. */
const kills = 4
const replacedWithinMs = 30_000
/** How long the background load continues after a worker has been replaced. */
const goesOnMs = 2_000

/** Workers are killed while Redis is unreachable: their replacements get every cached account of the instance. */
export async function worker(scope: Scope, report: Report): Promise<void> {
  const redis = await startRedis(scope, ['--appendonly', 'yes'])
  const fleet = await startInstanceGroup(scope, {
    backendUrl: await startBackend(scope),
    stores: [{ url: redis.url }],
    config: { listen: { port: 0, workers } },
  })
  const [instance] = fleet.instances
  if (!instance) throw new Error('no instance')
  const client = createClient()
  scope.teardown(client.close)
  const crowd = await startBackgroundLoad(client, fleet, await fleet.createAccounts(known))
  await redis.stop()
  await until('the outage is seen', async () => (await readiness(instance)) === 'degraded')
  for (let killed = 0; killed < kills; killed++) await killOne(instance, killed)
  const { answered, failed, broken, others } = await crowd.stop()
  report.demand(
    `known principals are served while ${kills} workers are replaced in an outage`,
    failed === 0,
    `${answered} answers, ${failed} others${failed > 0 ? `: ${others.join(', ')}` : ''}`,
  )
  const codes = [...client.errors()].map(([code, count]) => `${code} ${count}`).join(', ')
  // Each client may have had one request on a connection of the killed worker.
  report.demand(
    'only connections of the killed workers break',
    broken <= kills * known && !client.errors().has('ECONNREFUSED'),
    `${broken} without an answer${codes && `: ${codes}`}`,
  )
}

async function killOne({ child, opsUrl }: Instance, turn: number): Promise<void> {
  const before = childrenOf(child.pid ?? 0)
  const victim = before[turn % before.length]
  if (victim === undefined) throw new Error('no worker to kill')
  process.kill(victim, 'SIGKILL')
  await until(
    'another takes its place',
    async () =>
      childrenOf(child.pid ?? 0).some((pid) => !before.includes(pid)) &&
      (await takingRequests(opsUrl)) === workers,
    replacedWithinMs,
  )
  await new Promise((resolve) => setTimeout(resolve, goesOnMs))
}

/** How many workers serve requests. */
async function takingRequests(opsUrl: string): Promise<number> {
  const text = await (await fetch(`${opsUrl}/metrics`)).text()
  return Number(/^gatehouse_workers (\d+)$/m.exec(text)?.[1])
}

async function readiness({ opsUrl }: Instance): Promise<string> {
  const response = await fetch(`${opsUrl}/readyz`)
  return ((await response.json()) as { readonly status: string }).status
}
