import { openKeyUses } from '#accounts/keys/uses.ts'
import { type LoadedConfig, loadConfig } from '#config/load.ts'
import { openRateLimiter } from '#identity/limits/rate-limiter.ts'
import { openAcknowledgements } from '#identity/tokens/refresh-tokens.ts'
import { openMetrics } from '#ops/metrics/metrics.ts'
import { openStoreMonitor } from '#ops/store-monitor.ts'
import { isStoreUnavailable } from '#platform/errors/gatehouse-error.ts'
import { createLog } from '#platform/log/log.ts'
import { createSealingKeys } from '#platform/secrets/sealing-key.ts'
import { monotonicClock } from '#platform/time.ts'
import { openCallerAuth } from '#runtime/assembly/caller-auth.ts'
import { openStore } from '#store/open.ts'
import { until } from '../../test/setup/net.ts'

/** Requests of the drill to a process of simulated instances. */
export type Question =
  | { readonly kind: 'know'; readonly accountId: string }
  | { readonly kind: 'heard'; readonly accountId: string }

/** Its responses; times are of `process.hrtime`, which all processes of a machine share, in ms. */
export type Answer =
  | { readonly kind: 'open' }
  | { readonly kind: 'known' }
  | { readonly kind: 'heard'; readonly at: readonly number[] }

/** Delay between two starts, as in production: polls are then spread over time. */
const openGapMs = 20

const [file = '', count = ''] = process.argv.slice(2)
const loaded = loadConfig({ file, env: {} })
const log = createLog({ level: 'silent' })
const metrics = openMetrics({ version: 'drill' })
/** When the change of an account was first applied by each instance. */
const heard = new Map<string, Map<number, number>>()

/** Everything of an instance that speaks to Redis: only the listeners for requests are left out. */
async function openInstance({ config }: LoadedConfig, index: number) {
  const store = await openStore(config.store, 'request')
  const clock = Date.now
  const limiter = openRateLimiter({
    store,
    storeConnection: { isUp: true },
    monotonic: monotonicClock,
    onStoreFailure: () => {},
  })
  const identity = await openCallerAuth({
    config,
    store,
    sealingKeys: createSealingKeys(config.keys.sealingKey, { mayCreate: false }).keys,
    keyUses: openKeyUses({ store, clock, onLoss: () => {} }),
    limiter,
    acknowledgements: openAcknowledgements({ store, onLoss: () => {} }),
    log,
    metrics,
    clock,
  })
  identity.onChange((change) => {
    if (change?.kind === 'account') note(change.accountId, index)
  })
  openStoreMonitor({ store, storeConnection: identity.storeConnection, log, metrics })
  return identity
}

function note(accountId: string, index: number): void {
  const times = heard.get(accountId) ?? new Map<number, number>()
  heard.set(accountId, times)
  if (!times.has(index)) times.set(index, Number(process.hrtime.bigint()) / 1e6)
}

const opening: ReturnType<typeof openInstance>[] = []
for (let index = 0; index < Number(count); index++) {
  opening.push(openInstance(loaded, index))
  await new Promise((resolve) => setTimeout(resolve, openGapMs))
}
const instances = await Promise.all(opening)

/** On a busy machine Redis may seem unreachable for a moment: such requests are repeated. */
async function know(accountId: string): Promise<void> {
  const known = instances.map(({ directory }) =>
    until('the account is known', async () => {
      try {
        return (await directory.account(accountId)) !== undefined
      } catch (error) {
        if (isStoreUnavailable(error)) return false
        throw error
      }
    }),
  )
  await Promise.all(known)
  answer({ kind: 'known' })
}

function answer(said: Answer): void {
  process.send?.(said)
}

process.on('message', (question: Question) => {
  if (question.kind === 'heard') {
    answer({ kind: 'heard', at: [...(heard.get(question.accountId)?.values() ?? [])] })
    return
  }
  void know(question.accountId)
})
process.on('disconnect', () => process.exit())
await until('every instance has its Redis', () =>
  instances.every(({ storeConnection }) => storeConnection.isUp),
)
answer({ kind: 'open' })
