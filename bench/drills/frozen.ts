import type { CreatedAccount } from '../../src/accounts/accounts.ts'
import { redisCommand, startRedis } from '../../test/setup/redis.ts'
import { startBackend } from './backend.ts'
import { createClient, type DrillClient } from './client.ts'
import type { Report } from './figures.ts'
import { type Fleet, type Scope, startFleet } from './fleet.ts'

/** How long the gateway is stopped, in seconds, unless the arguments say otherwise. */
const usualSeconds = ['2', '5', '60']
const watchedMs = 500

/** What becomes of the messages about changes while the gateway is stopped. */
const states = {
  'messages come': () => undefined,
  'messages are cut': (port: number) => redisCommand(port, 'CLIENT KILL TYPE pubsub'),
  'the connection for commands is cut': (port: number) => redisCommand(port, 'CLIENT KILL TYPE normal'),
} as const

/** A gateway is stopped (SIGSTOP) while keys are reset: once it runs again it accepts none of them. */
export async function frozen(scope: Scope, report: Report, args: readonly string[]): Promise<void> {
  const redis = await startRedis(scope)
  const fleet = await startFleet(scope, {
    backendUrl: await startBackend(scope),
    stores: [{ url: redis.url }],
  })
  const client = createClient()
  scope.teardown(client.close)
  const seconds = (args.length > 0 ? args : usualSeconds).map(Number)
  const accounts = [...(await fleet.createAccounts(seconds.length * Object.keys(states).length))]
  for (const [name, treat] of Object.entries(states)) {
    for (const length of seconds) {
      const account = accounts.pop()
      if (!account) throw new Error('too few accounts')
      const late = await freeze(fleet, client, account, { seconds: length, treat: () => treat(redis.port) })
      report.demand(
        `stopped for ${length} s, ${name}: nothing revoked is accepted`,
        late === 0,
        `${late} accepted`,
      )
    }
  }
}

/** @returns how often the key that was reset meanwhile was accepted */
async function freeze(
  { instances, operate }: Fleet,
  client: DrillClient,
  { account, secretKey }: CreatedAccount,
  { seconds, treat }: { readonly seconds: number; readonly treat: () => unknown },
): Promise<number> {
  const [instance] = instances
  if (!instance) throw new Error('no instance')
  const ask = () => client.get(instance.url, { SecretKey: secretKey })
  if ((await ask()) !== 200) throw new Error('the caller is not let in')
  instance.child.kill('SIGSTOP')
  await treat()
  await operate(({ keys }) => keys.resetSecretKey(account.id, 0))
  // They wait in the kernel, and are read before any timer of the gateway has run.
  const waiting = Array.from({ length: 20 }, ask)
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000))
  instance.child.kill('SIGCONT')
  const statuses = await Promise.all(waiting)
  const wokenAt = performance.now()
  while (performance.now() - wokenAt < watchedMs) statuses.push(await ask())
  return statuses.filter((status) => status === 200).length
}
