import type { CreatedAccount } from '../../src/accounts/accounts.ts'
import { redisCommand, startRedis } from '../../test/setup/redis.ts'
import { startBackend } from './backend.ts'
import { createClient, type DrillClient } from './client.ts'
import { percentile, type Report, summary } from './figures.ts'
import { type InstanceGroup, type Scope, startInstanceGroup } from './instance-group.ts'
import { watchUntilRefused } from './watch-until-refused.ts'

const resets = 500
const bystanders = 50

/** A reset secret key is rejected everywhere: immediately if the message arrives, soon if it does not. */
export async function revocation(scope: Scope, report: Report): Promise<void> {
  const redis = await startRedis(scope, ['--appendonly', 'yes'])
  const stores = Array.from({ length: 3 }, () => ({ url: redis.url }))
  const fleet = await startInstanceGroup(scope, { backendUrl: await startBackend(scope), stores })
  const client = createClient()
  scope.teardown(client.close)
  const accounts = await fleet.createAccounts(2 * resets + bystanders)
  const load = startLoad(client, fleet, accounts.slice(0, bystanders))

  const delays = await resetAll(fleet, client, accounts.slice(bystanders, bystanders + resets))
  report.demand(
    'p99 with pub/sub, from the answer of the reset <= 50 ms',
    percentile(delays, 0.99) <= 50,
    `${summary(delays)} ms`,
  )
  report.demand(
    'no acceptance after 500 ms',
    Math.max(...delays) <= 500,
    `${Math.max(...delays).toFixed(1)} ms`,
  )

  const cutting = setInterval(
    () => void redisCommand(redis.port, 'CLIENT KILL TYPE pubsub').catch(() => {}),
    10,
  )
  const cutDelays = await resetAll(fleet, client, accounts.slice(bystanders + resets))
  clearInterval(cutting)
  report.demand(
    'with pub/sub cut in a loop always <= 500 ms',
    Math.max(...cutDelays) <= 500,
    `${summary(cutDelays)} ms`,
  )
  const { answered, failed } = await load.stop()
  report.demand(
    'every request of the others passed meanwhile',
    failed === 0,
    `${answered} passed, ${failed} did not`,
  )
}

/** Resets the accounts a few at a time. @returns for each account and instance until when the old key was accepted */
async function resetAll(
  fleet: InstanceGroup,
  client: DrillClient,
  accounts: readonly CreatedAccount[],
): Promise<number[]> {
  const waiting = [...accounts]
  return fleet.operate(async (operator) => {
    const lanes = Array.from({ length: 5 }, async () => {
      const delays: number[] = []
      for (let account = waiting.pop(); account; account = waiting.pop()) {
        const { id } = account.account
        const reset = () => operator.keys.resetSecretKey(id, 0)
        delays.push(
          ...(await watchUntilRefused(fleet, client, { secretKey: account.secretKey, revoke: reset })),
        )
      }
      return delays
    })
    return (await Promise.all(lanes)).flat()
  })
}

/** Other clients, sending requests throughout. */
function startLoad(client: DrillClient, { instances }: InstanceGroup, accounts: readonly CreatedAccount[]) {
  let isOn = true
  let answered = 0
  let failed = 0
  const lanes = accounts.slice(0, 6).map(async ({ secretKey }, lane) => {
    while (isOn) {
      const status = await client.get(instances[lane % instances.length]?.url ?? '', { SecretKey: secretKey })
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
