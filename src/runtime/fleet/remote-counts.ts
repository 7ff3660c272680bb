import { type InstanceCounts, type RateResult, rateKey } from '#store/rates.ts'
import type { Channel } from './channel.ts'
import type { RateRequest, RequestsToFleet } from './messages.ts'

interface Pending extends RateRequest {
  resolve(taken: RateResult): void
  reject(error: unknown): void
}

/** Counts in the fleet process. All counts of one turn of the event loop are sent in one message. */
export function createRemoteCounts(
  fleet: Pick<Channel<RequestsToFleet>, 'request'>,
  workers: number,
): InstanceCounts {
  let pending: Pending[] = []

  function flush(): void {
    const batch = pending
    pending = []
    // Only the members that count: a route's rate has more.
    const takes = batch.map(({ purpose, subject, rate: { limit, perMs } }) => ({
      purpose,
      subject,
      rate: { limit, perMs },
    }))
    fleet.request('take', takes).then(
      (taken) => settle(batch, taken),
      (error: unknown) => {
        for (const { reject } of batch) reject(error)
      },
    )
  }

  return {
    workers,
    take: (purpose, subject, rate) =>
      new Promise((resolve, reject) => {
        if (pending.length === 0) setImmediate(flush)
        pending.push({ purpose, subject: rateKey(subject), rate, resolve, reject })
      }),
  }
}

function settle(batch: readonly Pending[], taken: readonly RateResult[]): void {
  for (const [index, { resolve, reject }] of batch.entries()) {
    const answer = taken[index]
    if (answer) resolve(answer)
    else reject(new Error('no result for a rate'))
  }
}
