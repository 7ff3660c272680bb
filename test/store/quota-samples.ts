import type { QuotaStore, QuotaTake } from '#store/quotas.ts'

/** One request of a quota of 10,000, of the only process, in a window that has not ended. */
export function newQuotaTake(take: Partial<QuotaTake> = {}): QuotaTake {
  return {
    subject: 'ada',
    window: '2100-01',
    now: Date.UTC(2100, 0, 2),
    endsAt: Date.UTC(2100, 1, 1),
    limit: 10_000,
    holder: 'one',
    sequence: 1,
    holders: 1,
    needed: 1,
    ahead: 0,
    unused: 0,
    kept: 0,
    uncounted: 0,
    ...take,
  }
}

let sequence = 0

/** Takes, each time with the next number. */
export async function takeNext(store: QuotaStore, take: QuotaTake): Promise<{ readonly granted: number }> {
  sequence++
  const { granted } = await store.takeQuota({ ...take, sequence })
  return { granted }
}
