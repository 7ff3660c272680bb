import { redisCommand, startRedis } from '../../test/setup/redis.ts'
import { startBackend } from './backend.ts'
import { createClient, type DrillClient } from './client.ts'
import { percentile, type Report, summary } from './figures.ts'
import { type InstanceGroup, type Scope, startInstanceGroup } from './instance-group.ts'
import { watchUntilRefused } from './watch-until-refused.ts'

const revocations = 500
/** Several keys of each account are revoked, and one is not. */
const keysEach = 5
const accounts = revocations / keysEach
const laneCount = 6

interface RevocableKey {
  readonly accountId: string
  readonly name: string
  readonly secretKey: string
}

/** Single keys are revoked under load: each is refused everywhere at once, and no other key of its account ever. */
export async function keys(scope: Scope, report: Report): Promise<void> {
  const redis = await startRedis(scope, ['--appendonly', 'yes'])
  const stores = Array.from({ length: 3 }, () => ({ url: redis.url }))
  const fleet = await startInstanceGroup(scope, { backendUrl: await startBackend(scope), stores })
  const client = createClient()
  scope.teardown(client.close)
  const created = await fleet.createAccounts(2 * accounts)
  const kept = created.map(({ secretKey }) => secretKey)
  const [first, second] = [created.slice(0, accounts), created.slice(accounts)].map((some) =>
    some.map(({ account }) => account.id),
  )
  const load = startLoad(client, fleet, kept)

  const delays = await revokeAll(fleet, client, await createKeys(fleet, first ?? []))
  const slowest = Math.max(...delays)
  report.demand('p99 with pub/sub <= 50 ms', percentile(delays, 0.99) <= 50, `${summary(delays)} ms`)
  report.demand('no acceptance after 500 ms', slowest <= 500, `${slowest.toFixed(1)} ms`)

  const cut = () => void redisCommand(redis.port, 'CLIENT KILL TYPE pubsub').catch(() => {})
  const cutting = setInterval(cut, 10)
  const cutDelays = await revokeAll(fleet, client, await createKeys(fleet, second ?? []))
  clearInterval(cutting)
  const slowestCut = Math.max(...cutDelays)
  report.demand('with pub/sub cut in a loop always <= 500 ms', slowestCut <= 500, `${summary(cutDelays)} ms`)
  const { answered, failed } = await load.stop()
  report.demand('not one other key refused', failed === 0, `${answered} passed, ${failed} did not`)
}

async function createKeys({ operate }: InstanceGroup, ids: readonly string[]): Promise<RevocableKey[]> {
  return operate(async ({ secretKeys }) => {
    const made: RevocableKey[] = []
    for (const accountId of ids) {
      for (let count = 0; count < keysEach; count++) {
        const name = `key-${count}`
        const input = { name, scopes: [], addresses: [], expiresAt: undefined }
        made.push({ accountId, name, secretKey: await secretKeys.create(accountId, input) })
      }
    }
    return made
  })
}

/** A few at a time. @returns for each key and instance until when it was accepted */
async function revokeAll(
  fleet: InstanceGroup,
  client: DrillClient,
  waiting: RevocableKey[],
): Promise<number[]> {
  return fleet.operate(async ({ secretKeys }) => {
    const lanes = Array.from({ length: 5 }, async () => {
      const delays: number[] = []
      for (let key = waiting.pop(); key; key = waiting.pop()) {
        const { accountId, name, secretKey } = key
        const revoke = () => secretKeys.revoke(accountId, name, 0)
        delays.push(...(await watchUntilRefused(fleet, client, { secretKey, revoke })))
      }
      return delays
    })
    return (await Promise.all(lanes)).flat()
  })
}

/** The keys that stay, of the very accounts whose others are revoked, sending requests throughout. */
function startLoad(client: DrillClient, { instances }: InstanceGroup, kept: readonly string[]) {
  let isOn = true
  let answered = 0
  let failed = 0
  const lanes = Array.from({ length: laneCount }, async (_, lane) => {
    for (let turn = lane; isOn; turn += laneCount) {
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
