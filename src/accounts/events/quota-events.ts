import type { Clock } from '#platform/time.ts'
import type { AccountReader } from '#store/accounts.ts'
import type { EventStore } from '#store/audit.ts'
import { parseQuotaSubject, type Quota, type QuotaWindow, quotaKeptMs } from '#store/quotas.ts'
import { createAuditEntryFactory } from '../audit-log.ts'

interface QuotaEventsOptions {
  readonly store: Pick<AccountReader, 'findAccount'> & Pick<EventStore, 'appendAuditOnce'>
  readonly clock: Clock
  /** Whether, by the config that applies, any receiver gets these events. */
  isWanted(): boolean
  onStoreFailure(error: unknown): void
}

/** A quota in one window. */
interface UsedQuota extends Pick<QuotaWindow, 'window' | 'endsAt'> {
  /** An account, a principal of an issuer, or a key: see parseQuotaSubject. */
  readonly subject: string
  readonly limit: number
  readonly per: Quota['per']
}

/** The shares of a quota whose use is announced, in percent. */
const announcedPercents = [80, 100] as const
/** How many announcements are remembered, so that the store is not asked about them again. */
const rememberedMax = 10_000

/**
 * Writes an entry to the audit log when such a share of a quota is used: once for each share, window and limit. Every
 * process that reserves more of the quota checks this, so nothing is missed if one dies before it writes.
 */
export function createQuotaEvents({ store, clock, isWanted, onStoreFailure }: QuotaEventsOptions) {
  const entry = createAuditEntryFactory({ kind: 'system', channel: 'system' }, clock)
  const announced = new Set<string>()

  async function announce(
    { subject, window, endsAt, limit, per }: UsedQuota,
    percent: number,
  ): Promise<void> {
    const id = `quota:${subject}:${window}:${limit}:${percent}`
    if (announced.has(id)) return
    const { principalId, keyQuotaId } = parseQuotaSubject(subject)
    const account = await store.findAccount(principalId)
    const key = account?.secretKeys.find(({ quota }) => quota !== undefined && quota.id === keyQuotaId)
    const details = { principal: principalId, ...(key && { key: key.name }), percent, limit, per, window }
    await store.appendAuditOnce({
      id,
      keptUntil: endsAt + quotaKeptMs,
      entry: entry('quota-reached', account, details),
    })
    if (announced.size >= rememberedMax) announced.clear()
    announced.add(id)
  }

  // `readUsed` says how many requests have passed in a window.
  return async (quota: UsedQuota, readUsed: (subject: string, window: string) => Promise<number>) => {
    if (!isWanted()) return
    try {
      const used = await readUsed(quota.subject, quota.window)
      for (const percent of announcedPercents)
        if (used * 100 >= quota.limit * percent) await announce(quota, percent)
    } catch (error) {
      onStoreFailure(error)
    }
  }
}
