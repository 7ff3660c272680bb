import type { UsageStore } from '../usage.ts'
import type { Database } from './database.ts'
import type { Tables } from './tables/tables.ts'

export function openUsage({ read, write }: Database, { usage }: Pick<Tables, 'usage'>): UsageStore {
  return {
    addUsage: (batch) => write(() => usage.addBatch(batch)),
    readUsage: async (accountId, days) => read(() => usage.read(accountId, days)),
  }
}
