import type { Expiring } from '#platform/deadline.ts'
import type { Acquisition, Waiter } from './acquisition.ts'
import type { Claim, PoolUser, Waiting } from './claim.ts'

export interface QueueEvents {
  onCancel(queued: QueuedWaiter): void
  /** More of its body has arrived, or all of it. */
  onProgress(queued: QueuedWaiter): void
  onExpired(queued: QueuedWaiter): void
}

/** A wait for a connection that none is free for. */
export class QueuedWaiter implements Acquisition, Expiring, Waiting {
  readonly waiter: Waiter
  readonly claim: Claim
  /** Whether it takes no connection that is open already. */
  readonly isNew: boolean
  readonly #events: QueueEvents
  number: number | undefined
  before: Waiting | undefined
  after: Waiting | undefined
  place = -1
  deadline = Number.POSITIVE_INFINITY
  /** Set once a connection is being opened for it. */
  dialing: Acquisition | undefined

  constructor(waiter: Waiter, claim: Claim, isNew: boolean, events: QueueEvents) {
    this.waiter = waiter
    this.claim = claim
    this.isNew = isNew
    this.#events = events
  }

  get user(): PoolUser {
    return this.waiter.request
  }

  cancel(): void {
    this.#events.onCancel(this)
    this.dialing?.cancel()
  }

  onBodyProgress(): void {
    if (this.number !== undefined) this.#events.onProgress(this)
  }

  expire(): void {
    this.#events.onExpired(this)
  }
}
