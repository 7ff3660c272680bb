import { type Expiring, UnorderedList } from '#platform/deadline-sweep.ts'
import type { Claim, ClientNetwork, PoolUser, Waiting } from './parties.ts'
import type { Share } from './share.ts'
import type { Acquisition, Waiter } from './waiter.ts'

/**
 * Requests that wait for a connection, by client network. When a connection becomes free, the requests of a network
 * that has used up its share are skipped all at once, as there may be thousands.
 */
export class WaitingQueue<Item extends Waiting> {
  readonly #networks = new UnorderedList<ClientNetwork>()
  #numbers = 0
  size = 0

  get isEmpty(): boolean {
    return this.#networks.size === 0
  }

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
    const admission = new Admission(share)
    let longest: Waiting | undefined
    for (const network of this.#networks) {
      const first = share.hasRoomFor(network) ? firstAdmitted(network, admission) : undefined
      if (first && (longest?.number ?? Number.POSITIVE_INFINITY) > (first.number ?? 0)) longest = first
    }
    // The cast is sound: only `add` adds anything.
    return longest as Item | undefined
  }
}

/** Decides who may take a connection now. */
class Admission {
  readonly #share: Share
  /** Whether one more connection may be used while its body arrives: computed once, when first needed. */
  #mayReceive: boolean | undefined

  constructor(share: Share) {
    this.#share = share
  }

  admits({ claim, user }: Waiting): boolean {
    if (!this.#share.isWithin(claim)) return false
    if (user.bodyProgress === 'whole') return true
    this.#mayReceive ??= this.#share.mayReceive()
    return this.#mayReceive
  }
}

function firstAdmitted({ first }: ClientNetwork, admission: Admission): Waiting | undefined {
  let item = first
  while (item && !admission.admits(item)) item = item.after
  return item
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
