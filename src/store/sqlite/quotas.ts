import type { QuotaStore } from '../quotas.ts'
import type { Database } from './database.ts'
import type { Tables } from './tables/tables.ts'

/** Quotas that the processes of this machine share; a crash of the machine may lose the last second. */
export function openQuotas(
  { read, writeUnsynced }: Database,
  { quotas }: Pick<Tables, 'quotas'>,
): QuotaStore {
  return {
    takeQuota: (take) => writeUnsynced(() => quotas.take(take)),
    readQuota: async (accountId, window) => read(() => quotas.read(accountId, window)),
  }
}
