import type { MonotonicMs } from '#platform/time.ts'
import type { UpstreamFailure } from '../../outgoing/failure.ts'
import type { UpstreamConnection } from '../../outgoing/upstream-connection.ts'
import type { PoolUser } from './parties.ts'

/** Receives a connection; one of the two is called, once, unless the wait is cancelled before. */
export interface ConnectionReceiver {
  onConnection(connection: UpstreamConnection, now: MonotonicMs): void
  onFailure(failure: UpstreamFailure): void
}

/** Waits for a connection of the pool, and then uses it for its request. */
export interface Waiter extends ConnectionReceiver {
  readonly request: PoolUser
}

/** A wait for a connection. */
export interface Acquisition {
  cancel(): void
  /** To be called when more of the body has arrived, or all of it. */
  onBodyProgress(): void
}
