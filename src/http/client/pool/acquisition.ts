import type { UpstreamFailure } from '../failure.ts'
import type { UpstreamConnection } from '../upstream-connection.ts'
import type { PoolUser } from './claim.ts'

/** Receives a connection; one of the two is called, once, unless the wait is cancelled before. */
export interface ConnectionReceiver {
  /** @param now on the clock of performance.now() */
  onConnection(connection: UpstreamConnection, now: number): void
  onFailure(failure: UpstreamFailure): void
}

/** Something that waits for a connection of the pool, and then uses it for its request. */
export interface Waiter extends ConnectionReceiver {
  readonly request: PoolUser
}

/** A wait for a connection. */
export interface Acquisition {
  cancel(): void
  /** To be called when more of the body has arrived, or all of it. */
  onBodyProgress(): void
}
