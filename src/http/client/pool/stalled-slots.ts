import { UpstreamFailure } from '../failure.ts'
import type { PoolSlot } from './pool-slot.ts'

/** How long a client may read nothing of its response while others wait for a connection. */
export const stalledMs = 10_000

/**
 * Ends the requests whose clients have read nothing for the longest, one for each that waits: otherwise they keep their
 * connections until the send timeout.
 */
export function endStalled(slots: Iterable<PoolSlot>, waiting: number, now: number): void {
  const stalled = [...slots].filter((slot) => pausedAt(slot) <= now - stalledMs)
  stalled.sort((one, other) => pausedAt(one) - pausedAt(other))
  for (const { connection } of stalled.slice(0, waiting))
    connection?.fail(
      new UpstreamFailure('response-stalled', 'the client did not read its response while others waited'),
    )
}

function pausedAt({ user, connection }: PoolSlot): number {
  return user === undefined ? Number.POSITIVE_INFINITY : (connection?.pausedAt ?? Number.POSITIVE_INFINITY)
}
