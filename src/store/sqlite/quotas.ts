import type { QuotaStore } from '../quotas.ts'
import type { Database } from './database.ts'
import type { Tables } from './tables/tables.ts'

/** Quotas that the processes of this machine share. */
export function openQuotas({ read, write }: Database, { quotas }: Pick<Tables, 'quotas'>): QuotaStore {
  return {
    takeQuota: (take) => write(() => quotas.take(take)),
    readQuota: async (accountId, window) => read(() => quotas.read(accountId, window)),
  }
}
