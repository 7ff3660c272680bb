import type { Socket } from 'node:net'
import type { Listed } from '#platform/deadline.ts'
import type { MonotonicMs } from '#platform/time.ts'
import { UpstreamFailure } from '../../outgoing/failure.ts'
import type { ConnectionHolder, UpstreamConnection } from '../../outgoing/upstream-connection.ts'
import type { Claim, PoolUser, Use } from './claim.ts'

/** The pool of a slot. */
export interface SlotEvents {
  onFree(slot: PoolSlot, isReusable: boolean): void
  onLasting(slot: PoolSlot): void
}

/** The only client connection that may use a connection which it may have authenticated. */
interface Owner {
  readonly socket: Socket
  /** A proxy in front of the gateway may send requests of several people on one connection. */
  readonly accountId: string | undefined
  readonly onClose: () => void
}

/** One of the connections that a pool may have: connecting, in use or idle. */
export class PoolSlot implements Listed, Use, ConnectionHolder {
  place = -1
  user: PoolUser | undefined
  claim: Claim | undefined
  connection: UpstreamConnection | undefined
  /** Set while it waits for the next request of its owner. */
  owner: Owner | undefined
  /** Whether it carries a long-lived response, which is counted apart. */
  isLasting = false
  readonly #events: SlotEvents

  constructor(user: PoolUser, claim: Claim | undefined, events: SlotEvents) {
    this.user = user
    this.claim = claim
    this.#events = events
  }

  onFree(isReusable: boolean): void {
    this.#events.onFree(this, isReusable)
  }

  onLasting(): void {
    this.#events.onLasting(this)
  }
}

/** How long a client may read nothing of its response while others wait for a connection. */
export const stalledMs = 10_000

/**
 * Ends the requests whose clients have read nothing for the longest time, one for each that waits: otherwise they would
 * keep their connections until the send timeout.
 */
export function endStalled(slots: Iterable<PoolSlot>, waiting: number, now: MonotonicMs): void {
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
