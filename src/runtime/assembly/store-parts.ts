import { auditData } from '#accounts/audit-log.ts'
import { isEventWanted } from '#accounts/events/event-types.ts'
import { createQuotaEvents } from '#accounts/events/quota-events.ts'
import { openKeyUses } from '#accounts/keys/uses.ts'
import { openOutbox } from '#accounts/mails/outbox.ts'
import { openUsageRecorder } from '#accounts/usage/recorder.ts'
import type { Config } from '#config/config.ts'
import type { WorkerMemory } from '#identity/cache/cached-records.ts'
import type { KeySetFetches } from '#identity/issuers/issuer-fetches.ts'
import { withPrincipals } from '#identity/issuers/subjects.ts'
import { openQuotas } from '#identity/limits/quotas.ts'
import { openRateLimiter } from '#identity/limits/rate-limiter.ts'
import { createProofReplays } from '#identity/proof-replays.ts'
import { openAcknowledgements } from '#identity/tokens/refresh-tokens.ts'
import type { Metrics } from '#ops/metrics/metrics.ts'
import { createWorkFaultLogger } from '#ops/store-logs.ts'
import type { Log } from '#platform/log/log.ts'
import { type Clock, monotonicClock as monotonic } from '#platform/time.ts'
import { openStore } from '#store/open.ts'
import type { InstanceCounts } from '#store/rates.ts'
import { loadSealingKeys } from './sealing-keys.ts'

/** Parts that live as long as the process. Parts that workers share are undefined if there is only one worker. */
export interface ProcessParts {
  readonly log: Log
  readonly metrics: Metrics
  readonly clock: Clock
  /** Counters that all workers share. */
  readonly counts?: InstanceCounts | undefined
  /** What workers have looked up, shared. */
  readonly memory?: WorkerMemory | undefined
  /** Fetches keys of issuers for all workers. */
  readonly keySetFetches?: Pick<KeySetFetches, 'fetch'> | undefined
}

/** Parts that live as long as the store is open, including those of the process. */
type StoreParts = Awaited<ReturnType<typeof openStoreParts>>

/** The parts, with the config that applies. */
export interface ConfigParts extends StoreParts {
  readonly config: Config
}

/** The options that caches, keys and tokens depend on: as long as they are the same, a reload keeps these. */
export function callerAuthConfigOf(config: Config) {
  const { tokens, issuers, cache, sessionsMax, accessCookie, assertion, portal, store } = config
  const { enabled, lifetimeMs } = accessCookie
  return {
    tokens,
    issuers,
    cache,
    sessionsMax,
    accessCookie: { enabled, lifetimeMs: enabled ? lifetimeMs : 0 },
    assertion: { lifetimeMs: tokens.revocationFeed.enabled ? assertion.lifetimeMs : 0 },
    portal: { requireSecondFactor: portal.requireSecondFactor },
    store: { driver: store.driver },
  }
}

export type CallerAuthConfig = ReturnType<typeof callerAuthConfigOf>

/** What caller-auth.ts builds on. */
export interface CallerParts
  extends ProcessParts,
    Pick<StoreParts, 'store' | 'sealingKeys' | 'limiter' | 'keyUses' | 'acknowledgements'> {
  readonly config: CallerAuthConfig
}

/** How long a shutdown waits for mails that are being sent. */
const mailGraceMs = 5_000

/**
 * Opens the store, and the parts that write to it in the background.
 * @param isStoreUp called at each use, as the part that watches the store is opened later, and a reload may replace it
 * @param currentConfig called at each use, as a reload may replace the config
 * @throws OperatorError if the sealing key or the database is not available
 */
export async function openStoreParts(
  config: Config,
  parts: ProcessParts,
  isStoreUp: () => boolean,
  currentConfig: () => Config = () => config,
) {
  const { log, metrics, clock, counts } = parts
  const opened = new AsyncDisposableStack()
  const open = <Part extends { close(): void | Promise<void> }>(part: Part): Part =>
    opened.adopt(part, (one) => one.close())
  const store = open(await openStore(config.store, 'request', counts))
  const { keys: sealingKeys, reread } = await loadSealingKeys(config, store).catch(async (error: unknown) => {
    await opened.disposeAsync()
    throw error
  })
  // A copy that a person with write access to the store cannot change.
  store.onAudit((entry) => log.info({ event: 'audit', ...auditData(entry) }, 'audit log entry'))
  const storeConnection = {
    get isUp() {
      return isStoreUp()
    },
  }
  const limiter = open(
    openRateLimiter({
      store,
      storeConnection,
      monotonic,
      counts,
      onStoreFailure: createWorkFaultLogger(log, 'cannot count rates in the store'),
    }),
  )
  const isAlone = config.store.driver === 'sqlite' && counts === undefined
  const proofReplays = createProofReplays({ take: isAlone ? undefined : limiter.take, clock })
  const onAsked = createQuotaEvents({
    store,
    clock,
    isWanted: () => isEventWanted(currentConfig().events, 'quota-reached'),
    onStoreFailure: createWorkFaultLogger(log, 'cannot record that a quota was reached'),
  })
  const quotas = open(
    openQuotas({
      store,
      storeConnection,
      clock,
      monotonic,
      processes: limiter.processes,
      onAsked,
      onStoreFailure: createWorkFaultLogger(log, 'cannot count quotas in the store'),
    }),
  )
  const keyUses = open(
    openKeyUses({
      store,
      clock,
      onLoss: createWorkFaultLogger(log, 'cannot record when keys were last used'),
    }),
  )
  const usageRecorder = open(
    openUsageRecorder({
      store: withPrincipals(store),
      clock,
      onLoss: ({ requests, error, isFirst }) => {
        metrics.usageLost.inc(requests)
        // Once per outage; the metric counts on.
        if (isFirst) log.error({ err: error }, 'cannot record usage: some requests will not be counted')
      },
    }),
  )
  const acknowledgements = open(
    openAcknowledgements({
      store,
      onLoss: (err, count) => {
        metrics.acknowledgementsLost.inc(count)
        log.error({ err, count }, 'cannot record which refresh tokens were issued')
      },
    }),
  )
  metrics.collectPendingAcknowledgements(acknowledgements.pendingCount)

  const outbox = openOutbox({
    onFailure: (err, about) => log.error({ err, ...about }, 'a mail could not be sent'),
  })
  // Closed first, as sending a mail may write to the store.
  opened.defer(() => outbox.close(mailGraceMs))

  return {
    ...parts,
    sealingKeys,
    /** See SealingKeys. */
    rereadSealingKeys: reread,
    store,
    /** Whether the store is reachable. */
    storeConnection,
    limiter,
    quotas,
    proofReplays,
    keyUses,
    usageRecorder,
    acknowledgements,
    outbox,
    /** Closes the parts in reverse order, so that each writes what is pending before the store is closed. */
    close: () => opened.disposeAsync(),
  }
}
