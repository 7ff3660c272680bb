import { type Expiring, UnorderedList } from '#platform/deadline-sweep.ts'
import type { Acquisition, Claim, ClientNetwork, PoolUser, Waiter, Waiting } from './parties.ts'
import type { Share } from './share.ts'

/**
 * Requests that wait for a connection, by client network. When a connection becomes free, the requests of a network
 * that has used up its share are skipped all at once, as there may be thousands.
 */
export class WaitingQueue<Item extends Waiting> {
  readonly #networks = new UnorderedList<ClientNetwork>()
  #numbers = 0
  size = 0

  add(item: Item): void {
    const { network, account } = item.claim
    item.number = ++this.#numbers
    item.before = network.last
    if (network.last) network.last.after = item
    else network.first = item
    network.last = item
    network.waiting++
    if (account) account.waiting++
    this.#networks.add(network)
    this.size++
  }

  /** Does nothing if the item does not wait. */
  remove(item: Item): void {
    if (item.number === undefined) return
    const { before, after, claim } = item
    const { network, account } = claim
    if (before) before.after = after
    else network.first = after
    if (after) after.before = before
    else network.last = before
    item.number = item.before = item.after = undefined
    this.size--
    network.waiting--
    if (account) account.waiting--
    if (network.waiting === 0) this.#networks.remove(network)
  }

  /** The request that has waited longest of those that may take a connection. */
  next(share: Share): Item | undefined {
    /** Whether one more connection may be used while its body arrives: computed once, when first needed. */
    let mayReceive: boolean | undefined
    function isAdmitted({ claim, user }: Waiting): boolean {
      if (!share.isWithin(claim)) return false
      if (user.bodyProgress === 'whole') return true
      mayReceive ??= share.mayReceive()
      return mayReceive
    }
    let longest: Waiting | undefined
    for (const network of this.#networks) {
      if (!share.hasRoomFor(network)) continue
      let { first } = network
      while (first && !isAdmitted(first)) first = first.after
      if (first && (longest?.number ?? Number.POSITIVE_INFINITY) > (first.number ?? 0)) longest = first
    }
    // The cast is sound: only `add` adds anything.
    return longest as Item | undefined
  }
}

export interface QueueEvents {
  onCancel(queued: QueuedWaiter): void
  /** More of its body has arrived, or all of it. */
  onProgress(queued: QueuedWaiter): void
  onExpired(queued: QueuedWaiter): void
}

/** A request that waits because no connection is free. */
export class QueuedWaiter implements Acquisition, Expiring, Waiting {
  readonly waiter: Waiter
  readonly claim: Claim
  /** Whether it needs a new connection. */
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
