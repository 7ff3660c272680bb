import {
  holderGoneMs,
  holdersOf,
  type QuotaState,
  type QuotaStore,
  quotaKeptMs,
  quotaPercent,
  quotaSlack,
} from '../quotas.ts'
import type { Connection } from './open-connection.ts'
import { loadScript } from './scripts.ts'

const takeQuotaScript = loadScript('take-quota')

/** Quotas that are counted across instances; a failover may lose the last second. */
export function createQuotaStore({ keys, ask, run, confirmAbsence }: Connection): QuotaStore {
  return {
    takeQuota: async ({ subject, window, endsAt, limit, ...take }) => {
      const { now, holder, sequence, holders, needed, ahead, unused, kept, uncounted } = take
      const reply = await run(
        takeQuotaScript,
        [keys.quota(subject, window)],
        [
          limit,
          quotaSlack(limit),
          holder,
          holders,
          needed,
          unused,
          uncounted,
          endsAt + quotaKeptMs,
          sequence,
          ahead,
          kept,
          quotaPercent(limit),
          now,
          holderGoneMs,
        ],
      )
      const [granted = 0, grantedToAll = 0] = (reply as readonly unknown[]).map(Number)
      return { granted, grantedToAll }
    },
    readQuota: async (subject, window) => {
      const fields = await ask((client) => client.hgetall(keys.quota(subject, window)))
      if (fields.granted === undefined) await confirmAbsence()
      return toState(fields)
    },
  }
}

/** What the script writes. */
function toState({ granted = '0', ...holders }: Readonly<Record<string, string>>): QuotaState {
  const held = Object.entries(holders).map(([field, value]) => [
    field.slice('by '.length),
    value.split(' ').map(Number),
  ])
  return { granted: Number(granted), holders: holdersOf(Object.fromEntries(held)) }
}
