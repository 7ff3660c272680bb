import type { DayRange, UsageCount, UsageStore } from '../usage.ts'
import type { Database } from './database.ts'
import type { Tables } from './tables/tables.ts'

/** How many counts are read at once, which takes a few milliseconds: requests are served in between. */
const countsAtOnce = 2_000

export function openUsage(
  { read, write }: Database,
  { usage, usagePrincipals: principals }: Pick<Tables, 'usage' | 'usagePrincipals'>,
): UsageStore {
  async function readUsage(accountId: string, { from, to }: DayRange): Promise<readonly UsageCount[]> {
    const found: UsageCount[] = []
    let after = { day: from, key: '', route: '' }
    for (;;) {
      const next = read(() => usage.readNext(accountId, after, { to, limit: countsAtOnce }))
      found.push(...next)
      const last = next.at(-1)
      if (!last || next.length < countsAtOnce) return found
      after = last
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  return {
    addUsage: (batch) => write(() => usage.addBatch(batch)),
    admitUsagePrincipals: (ids, today) => write(() => principals.admit(ids, today)),
    listUsagePrincipals: async (cursor) => read(() => principals.list(cursor)),
    readUsage,
  }
}
