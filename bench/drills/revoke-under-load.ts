import type { Operator } from '#cli/operator.ts'
import { redisCommand, startRedis } from '../../test/setup/redis.ts'
import type { Scope } from '../scope.ts'
import { startBackend } from './backend.ts'
import { createClient, type DrillClient } from './client.ts'
import { percentile, type Report, summary } from './figures.ts'
import { type InstanceGroup, startInstanceGroup } from './instance-group.ts'
import { watchUntilRefused } from './watch-until-refused.ts'

/** A key, and what ends it. */
export interface Revocable {
  readonly secretKey: string
  revoke(operator: Operator): Promise<unknown>
}

export interface RevocationPlan {
  /** Keys that send requests throughout, none of which may be refused. */
  readonly kept: readonly string[]
  /** Revoked first with pub/sub, then with it cut again and again. */
  readonly first: readonly Revocable[]
  readonly second: readonly Revocable[]
}

const loadLanes = 6
const revokingLanes = 5
const cutIntervalMs = 10

/** Revokes keys over three instances under load: each is refused everywhere soon, and no other key ever. */
export async function revokeUnderLoad(
  scope: Scope,
  report: Report,
  prepare: (group: InstanceGroup) => Promise<RevocationPlan>,
): Promise<void> {
  const redis = await startRedis(scope, ['--appendonly', 'yes'])
  const stores = Array.from({ length: 3 }, () => ({ url: redis.url }))
  const group = await startInstanceGroup(scope, { backendUrl: await startBackend(scope), stores })
  const client = createClient()
  scope.teardown(client.close)
  const { kept, first, second } = await prepare(group)
  const load = startLoad(client, group, kept)

  const delays = await revokeAll(group, client, first)
  const slowest = Math.max(...delays)
  report.demand(
    'p99 with pub/sub, from the answer <= 50 ms',
    percentile(delays, 0.99) <= 50,
    `${summary(delays)} ms`,
  )
  report.demand('no acceptance after 500 ms', slowest <= 500, `${slowest.toFixed(1)} ms`)

  const cut = () => void redisCommand(redis.port, 'CLIENT KILL TYPE pubsub').catch(() => {})
  const cutting = setInterval(cut, cutIntervalMs)
  const cutDelays = await revokeAll(group, client, second)
  clearInterval(cutting)
  const slowestCut = Math.max(...cutDelays)
  report.demand('with pub/sub cut in a loop always <= 500 ms', slowestCut <= 500, `${summary(cutDelays)} ms`)
  const { answered, failed } = await load.stop()
  report.demand('not one other key refused', failed === 0, `${answered} passed, ${failed} did not`)
}

/** A few at a time. @returns for each key and instance until when it was accepted, in ms */
async function revokeAll(
  group: InstanceGroup,
  client: DrillClient,
  revocables: readonly Revocable[],
): Promise<number[]> {
  const waiting = [...revocables]
  return group.operate(async (operator) => {
    const lanes = Array.from({ length: revokingLanes }, async () => {
      const delays: number[] = []
      for (let next = waiting.pop(); next; next = waiting.pop()) {
        const { secretKey, revoke } = next
        delays.push(
          ...(await watchUntilRefused(group, client, { secretKey, revoke: () => revoke(operator) })),
        )
      }
      return delays
    })
    return (await Promise.all(lanes)).flat()
  })
}

/** The keys that stay, sending requests throughout. */
function startLoad(client: DrillClient, { instances }: InstanceGroup, kept: readonly string[]) {
  let isOn = true
  let answered = 0
  let failed = 0
  const lanes = Array.from({ length: loadLanes }, async (_, lane) => {
    for (let turn = lane; isOn; turn += loadLanes) {
      const { url = '' } = instances[turn % instances.length] ?? {}
      const status = await client.get(url, { SecretKey: kept[turn % kept.length] ?? '' })
      if (status === 200) answered++
      else failed++
    }
  })
  return {
    stop: async () => {
      isOn = false
      await Promise.all(lanes)
      return { answered, failed }
    },
  }
}
