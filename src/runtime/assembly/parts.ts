import { auditData } from '#accounts/audit-log.ts'
import { isEventWanted } from '#accounts/events/event-types.ts'
import { createQuotaEvents } from '#accounts/events/quota-events.ts'
import { type KeyUses, openKeyUses } from '#accounts/key-uses.ts'
import { createOutbox, type Outbox } from '#accounts/mails/outbox.ts'
import { openUsageRecorder, type UsageRecorder } from '#accounts/usage-recorder.ts'
import type { Config } from '#config/config.ts'
import type { WorkerMemory } from '#identity/cache/instance-memory.ts'
import type { KeySetFetches } from '#identity/issuers/key-set-fetches.ts'
import { withPrincipals } from '#identity/issuers/subjects.ts'
import { openQuotas, type Quotas } from '#identity/limits/quotas.ts'
import { openRateLimiter, type RateLimiter } from '#identity/limits/rate-limiter.ts'
import { type Acknowledgements, openAcknowledgements } from '#identity/tokens/refresh-tokens.ts'
import type { Metrics } from '#ops/metrics/metrics.ts'
import { type Clock, monotonicClock } from '#platform/clock.ts'
import type { Log } from '#platform/log/log.ts'
import type { KeySource } from '#platform/secrets/sealing.ts'
import { createSealingKeys, type SealingKeys } from '#platform/secrets/sealing-key.ts'
import { openStore } from '#store/open.ts'
import type { InstanceCounts } from '#store/rates.ts'
import type { Store } from '#store/store.ts'
import { createFaultLogger } from './store-monitor.ts'

/** What lives as long as the process. What workers of one instance share is undefined for an only worker. */
export interface ProcessParts {
  readonly log: Log
  readonly metrics: Metrics
  /** Milliseconds since 1970. */
  readonly clock: Clock
  /** Counts of all workers. */
  readonly counts?: InstanceCounts | undefined
  /** What workers have looked up. */
  readonly memory?: WorkerMemory | undefined
  /** Fetches keys of issuers for all workers. */
  readonly keySetFetches?: Pick<KeySetFetches, 'fetch'> | undefined
}

/** What lives as long as the store is open, and all above. */
export interface StoreParts extends ProcessParts {
  readonly sealingKeys: KeySource
  /** See SealingKeys. */
  readonly rereadSealingKeys: SealingKeys['reread']
  readonly store: Store
  readonly limiter: RateLimiter
  readonly quotas: Quotas
  readonly keyUses: KeyUses
  readonly usageRecorder: UsageRecorder
  readonly acknowledgements: Acknowledgements
  readonly outbox: Outbox
  /** Whether the store is reachable. */
  readonly storeConnection: { readonly isUp: boolean }
  /** Writes what is pending, and closes the store last. */
  close(): Promise<void>
}

/** The same with the config that applies. */
export interface ConfigParts extends StoreParts {
  readonly config: Config
}

/** The same without what counts requests and sends mails. */
export type CallerParts = Omit<
  ConfigParts,
  'close' | 'outbox' | 'quotas' | 'rereadSealingKeys' | 'storeConnection' | 'usageRecorder'
>

/** How long a shutdown waits for mails that are being sent. */
const mailGraceMs = 5_000

/**
 * Opens the store, and what is written to it in the background.
 * @param isStoreUp asked at each use: the part that follows the store is opened later, and a reload may replace it
 * @param currentConfig asked at each use: a reload may replace it
 * @throws OperatorError if the sealing key or the database is not available
 */
export async function openStoreParts(
  config: Config,
  parts: ProcessParts,
  isStoreUp: () => boolean,
  currentConfig: () => Config = () => config,
): Promise<StoreParts> {
  const { log, metrics, clock, counts } = parts
  const mayCreate = config.store.driver === 'sqlite'
  const { keys: sealingKeys, reread } = createSealingKeys(config.keys.sealingKey, { mayCreate })
  const store = await openStore(config.store, 'request', counts)
  // A copy that someone with write access to the store cannot change.
  store.onAudit((entry) => log.info({ event: 'audit', ...auditData(entry) }, 'audit log entry'))
  const storeConnection = {
    get isUp() {
      return isStoreUp()
    },
  }
  const limiter = openRateLimiter({ store, storeConnection, clock: monotonicClock, counts })
  const quotas = openQuotas({
    store,
    storeConnection,
    clock,
    monotonic: monotonicClock,
    processes: limiter.instances,
    onAsked: createQuotaEvents({
      store,
      clock,
      isWanted: () => isEventWanted(currentConfig().events, 'quota-reached'),
      onStoreFailure: createFaultLogger(log),
    }),
  })
  const keyUses = openKeyUses({ store, clock })
  const usageRecorder = openUsageRecorder({
    store: withPrincipals(store),
    clock,
    onLoss: ({ requests, error, isFirst }) => {
      metrics.usageLost.inc(requests)
      // Once in an outage: the metric goes on.
      if (isFirst)
        log.error({ err: error }, 'cannot record what accounts use: some requests will not be counted')
    },
  })
  const acknowledgements = openAcknowledgements({
    store,
    onLoss: (err, count) => {
      metrics.acknowledgementsLost.inc(count)
      log.error({ err, count }, 'cannot record which refresh tokens were issued')
    },
  })
  metrics.collectPendingAcknowledgements(acknowledgements.pendingCount)

  const outbox = createOutbox({
    onFailure: (err, about) => log.error({ err, ...about }, 'a mail could not be sent'),
  })

  async function close(): Promise<void> {
    // First: what sends a mail may write to the store.
    await outbox.close(mailGraceMs)
    limiter.close()
    await quotas.close()
    await keyUses.close()
    await usageRecorder.close()
    await acknowledgements.close()
    await store.close()
  }

  return {
    ...parts,
    sealingKeys,
    rereadSealingKeys: reread,
    store,
    limiter,
    quotas,
    keyUses,
    usageRecorder,
    acknowledgements,
    outbox,
    storeConnection,
    close,
  }
}
