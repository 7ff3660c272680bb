import type { CreatedAccount } from '#accounts/accounts.ts'
import { until } from '../../test/setup/net.ts'
import { type RedisServer, redisCommand, startRedis } from '../../test/setup/redis.ts'
import { startTcpProxy, type TcpProxy } from '../../test/store/redis/tcp-proxy.ts'
import type { Scope } from '../scope.ts'
import { startBackend } from './backend.ts'
import { createClient, type DrillClient } from './client.ts'
import type { Report } from './figures.ts'
import { type InstanceGroup, startInstanceGroup } from './instance-group.ts'

/** How long the gateway is stopped, in seconds, unless the arguments say otherwise. */
const usualSeconds = ['2', '5', '60']
const watchedMs = 500

interface Place {
  readonly redis: RedisServer
  /** Between the gateway and its Redis. */
  readonly wire: TcpProxy
}

/** What happens to the gateway's connections to Redis while it is stopped. */
const states: Readonly<Record<string, (place: Place) => unknown>> = {
  'messages come': () => undefined,
  'messages are cut': ({ redis }) => redisCommand(redis.port, 'CLIENT KILL TYPE pubsub'),
  'messages fall silent': ({ wire }) => wire.cutMatching('subscribe'),
  'the connection for commands is cut': ({ redis }) => redisCommand(redis.port, 'CLIENT KILL TYPE normal'),
}

/** A gateway is stopped (SIGSTOP) while keys are reset: once it runs again it accepts none of them. */
export async function frozen(scope: Scope, report: Report, args: readonly string[]): Promise<void> {
  const redis = await startRedis(scope)
  const wire = await startTcpProxy(scope, redis.port)
  const fleet = await startInstanceGroup(scope, {
    backendUrl: await startBackend(scope),
    stores: [{ url: wire.url }],
  })
  const client = createClient()
  scope.teardown(client.close)
  const seconds = (args.length > 0 ? args : usualSeconds).map(Number)
  const accounts = [...(await fleet.createAccounts(seconds.length * Object.keys(states).length))]
  for (const [name, treat] of Object.entries(states)) {
    for (const length of seconds) {
      const account = accounts.pop()
      if (!account) throw new Error('too few accounts')
      const late = await freeze(fleet, client, account, {
        seconds: length,
        treat: () => treat({ redis, wire }),
      })
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
  { instances, operate }: InstanceGroup,
  client: DrillClient,
  { account, secretKey }: CreatedAccount,
  { seconds, treat }: { readonly seconds: number; readonly treat: () => unknown },
): Promise<number> {
  const [instance] = instances
  if (!instance) throw new Error('no instance')
  const ask = () => client.get(instance.url, { SecretKey: secretKey })
  // On a busy machine the store may seem unreachable for a moment.
  await until('the caller is let in', async () => (await ask()) === 200)
  instance.child.kill('SIGSTOP')
  await treat()
  await operate(({ defaultKeys }) => defaultKeys.resetSecretKey(account.id, 0))
  // They wait in the kernel, and are read before any timer of the gateway has run.
  const waiting = Array.from({ length: 20 }, ask)
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000))
  instance.child.kill('SIGCONT')
  const statuses = await Promise.all(waiting)
  const wokenAt = performance.now()
  while (performance.now() - wokenAt < watchedMs) statuses.push(await ask())
  return statuses.filter((status) => status === 200).length
}
