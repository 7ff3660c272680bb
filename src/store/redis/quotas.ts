import { type QuotaStore, quotaKeptMs, quotaSlack } from '../quotas.ts'
import type { Connection } from './connection.ts'
import { loadScript } from './scripts.ts'

const takeScript = loadScript('take-quota')

/** Quotas that are counted across instances; a failover may lose the last second. */
export function openQuotas({ keys, run }: Connection): QuotaStore {
  return {
    takeQuota: async ({ accountId, window, endsAt, limit, holder, holders, needed, unused, uncounted }) => {
      const reply = await run(
        takeScript,
        [keys.quota(accountId, window)],
        [limit, quotaSlack(limit), holder, holders, needed, unused, uncounted, endsAt + quotaKeptMs],
      )
      return { granted: Number(reply) }
    },
  }
}
