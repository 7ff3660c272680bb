import type { QuotaGrant, QuotaStore, QuotaTake } from '../quotas.ts'
import type { Database } from './database.ts'
import type { Tables } from './tables/tables.ts'

interface Waiting {
  readonly take: QuotaTake
  resolve(grant: QuotaGrant): void
  reject(error: unknown): void
}

/** How many takes a transaction has at most, which takes SQLite some milliseconds. */
const batchMax = 200

/**
 * Quotas that the processes of this machine share; a crash of the machine may lose the last second. All takes of one
 * event loop iteration are one transaction: a transaction costs as much as ten takes.
 */
export function openQuotas(
  { read, writeUnsynced }: Database,
  { quotas }: Pick<Tables, 'quotas'>,
): QuotaStore {
  const waiting: Waiting[] = []

  async function takeWaiting(): Promise<void> {
    const batch = waiting.splice(0, batchMax)
    if (waiting.length > 0) setImmediate(takeWaiting)
    try {
      const grants = await writeUnsynced(() => batch.map(({ take }) => quotas.take(take)))
      for (const [index, grant] of grants.entries()) batch[index]?.resolve(grant)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  return {
    takeQuota: (take) =>
      new Promise((resolve, reject) => {
        if (waiting.length === 0) setImmediate(takeWaiting)
        waiting.push({ take, resolve, reject })
      }),
    readQuota: async (accountId, window) => read(() => quotas.read(accountId, window)),
  }
}
