import { DeadlineSweep, UnorderedList } from '#platform/deadline-sweep.ts'
import { type MonotonicClock, monotonicClock } from '#platform/time.ts'
import { NoConnection } from '../../outgoing/failure.ts'
import type { ConnectionOpener, OpenEvents } from '../../outgoing/upstream-connection.ts'
import type { Acquisition, Claim, ConnectionReceiver, PoolUser, Waiter } from './parties.ts'
import { endStalled, IdleSlots, PoolSlot, type SlotEvents } from './pool-slots.ts'
import { Share } from './share.ts'
import { QueuedWaiter, type QueueEvents, WaitingQueue } from './waiting-queue.ts'

interface PoolOptions {
  readonly opener: ConnectionOpener
  readonly connectTimeoutMs: number
  /** In HTTP/2 it limits simultaneous requests. */
  readonly connectionsMax: number
  /** Measures how long a client has read nothing; default: performance.now(). */
  readonly monotonic?: MonotonicClock
}

/** How often, while requests wait, the pool looks for responses whose clients read nothing. */
const stallCheckMs = 250

/** The timeouts of all waiting requests. */
const deadlines = new DeadlineSweep(50)

/** The connections to one target. */
export class Pool {
  readonly #options: PoolOptions
  readonly #share: Share
  readonly #slots = new UnorderedList<PoolSlot>()
  readonly #idle: IdleSlots
  readonly #queue = new WaitingQueue<QueuedWaiter>()
  /** How many connections carry a long-lived response; these are not among `#slots`. */
  #lasting = 0
  /** Set while requests wait. */
  #stallTimer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(options: PoolOptions) {
    this.#options = options
    this.#share = new Share(options.connectionsMax, this.#slots)
    this.#idle = new IdleSlots((slot) => this.#slots.remove(slot))
  }

  /**
   * Provides an idle connection at once, else a new one, else the next that becomes free within the waiter's fair
   * share.
   * @param isNew whether to use no existing connection
   */
  acquire(waiter: Waiter, isNew: boolean): Acquisition {
    if (this.#share.isPlenty) return this.#take(waiter, undefined, isNew)
    const claim = this.#share.claimOf(waiter.request)
    const mayTake = this.#share.mayTake(claim, waiter.request.bodyProgress)
    return mayTake ? this.#take(waiter, claim, isNew) : this.#enqueue(waiter, claim, isNew)
  }

  /** Opens a connection that the pool does not count: for an upgrade, which keeps it, or for a health check. */
  open(receiver: ConnectionReceiver): Acquisition {
    const events: OpenEvents = {
      onConnection: (connection) => {
        // The target answered without upgrading: no other request may use the connection.
        connection.holder = { onFree: () => connection.destroy(), onLasting: noop }
        receiver.onConnection(connection, monotonicClock())
      },
      onFailure: (failure) => receiver.onFailure(failure),
    }
    const cancel = this.#options.opener.open(events, 'upgrade', false)
    return { cancel: () => void cancel(), onBodyProgress: noop }
  }

  /** Whether a connection is reserved for the client connection of this user. */
  hasBound(user: Pick<PoolUser, 'clientSocket'>): boolean {
    return this.#idle.hasBound(user)
  }

  /** Closes idle connections; requests that have a connection, or wait for one, are completed. */
  close(): void {
    this.#isClosed = true
    this.#options.opener.close()
    this.#idle.close()
  }

  #take(waiter: Waiter, claim: Claim | undefined, isNew: boolean): Acquisition {
    this.#share.take(claim)
    const now = monotonicClock()
    const idle = isNew ? undefined : this.#idle.take(waiter.request, now)
    if (idle?.connection !== undefined) {
      idle.user = waiter.request
      idle.claim = claim
      waiter.onConnection(idle.connection, now)
      return nothingPending
    }
    // Idle connections count too, and this request needs a new one.
    if (this.#slots.size >= this.#options.connectionsMax) this.#idle.dropOldest()
    return this.#dialCounted(waiter, claim, isNew)
  }

  #dialCounted(waiter: Waiter, claim: Claim | undefined, isNew: boolean): Acquisition {
    const slot = new PoolSlot(waiter.request, claim, this.#slotEvents)
    this.#slots.add(slot)
    const events: OpenEvents = {
      onConnection: (connection) => {
        slot.connection = connection
        connection.holder = slot
        waiter.onConnection(connection, monotonicClock())
      },
      onFailure: (failure) => {
        this.#removeSlot(slot)
        waiter.onFailure(failure)
      },
    }
    const use = waiter.request.bindsConnection ? 'bound' : 'request'
    const cancel = this.#options.opener.open(events, use, isNew)
    return {
      cancel: () => {
        if (cancel()) this.#removeSlot(slot)
      },
      onBodyProgress: noop,
    }
  }

  readonly #slotEvents: SlotEvents = {
    onFree: (slot, isReusable) => (isReusable ? this.#releaseSlot(slot) : this.#removeSlot(slot)),
    onLasting: (slot) => this.#setApart(slot),
  }

  #releaseSlot(slot: PoolSlot): void {
    const { user, connection } = slot
    if (slot.isLasting) this.#takeBack(slot)
    if (slot.place === -1 || !this.#idle.add(slot, user)) {
      connection?.destroy()
      return
    }
    this.#endUse(slot)
    this.#serveQueue()
    if (this.#isClosed) this.#idle.close()
  }

  #removeSlot(slot: PoolSlot): void {
    if (slot.isLasting) this.#takeBack(slot)
    this.#endUse(slot)
    this.#idle.remove(slot)
    this.#slots.remove(slot)
    this.#serveQueue()
  }

  /**
   * Counts a long-lived response apart, up to as many as there are connections; beyond that it counts like any other.
   */
  #setApart(slot: PoolSlot): void {
    if (slot.isLasting || slot.user === undefined || this.#lasting >= this.#options.connectionsMax) return
    slot.isLasting = true
    this.#lasting++
    this.#endUse(slot)
    this.#slots.remove(slot)
    this.#serveQueue()
  }

  /** A long-lived response has ended. Its connection joins the others again, if they have room. */
  #takeBack(slot: PoolSlot): void {
    slot.isLasting = false
    this.#lasting--
    if (this.#slots.size < this.#options.connectionsMax) this.#slots.add(slot)
  }

  #endUse(slot: PoolSlot): void {
    if (slot.user === undefined) return
    slot.user = undefined
    this.#share.release(slot.claim)
  }

  /** Serves those who have waited longest and are within their fair share. */
  #serveQueue(): void {
    while (this.#queue.size > 0) {
      const queued = this.#queue.next(this.#share)
      if (!queued) return
      this.#serveQueued(queued)
    }
    this.#share.onNobodyWaits()
  }

  #serveQueued(queued: QueuedWaiter): void {
    this.#unqueue(queued)
    queued.dialing = this.#take(queued.waiter, queued.claim, queued.isNew)
  }

  #enqueue(waiter: Waiter, claim: Claim, isNew: boolean): Acquisition {
    const queued = new QueuedWaiter(waiter, claim, isNew, this.#queueEvents)
    this.#queue.add(queued)
    this.#startQueueTimeout(queued)
    this.#stallTimer ??= setTimeout(this.#onStallTimer, 0).unref()
    return queued
  }

  /**
   * Starts the timeout of a waiting request, unless little of its body has arrived: its client may be slow, which
   * `limits.bodyRate` limits.
   */
  #startQueueTimeout(queued: QueuedWaiter): void {
    if (queued.user.bodyProgress === 'held' || queued.place !== -1) return
    queued.deadline = monotonicClock() + this.#options.connectTimeoutMs
    deadlines.add(queued)
  }

  readonly #queueEvents: QueueEvents = {
    onCancel: (queued) => this.#unqueue(queued),
    onProgress: (queued) => {
      if (this.#share.mayTake(queued.claim, queued.user.bodyProgress)) this.#serveQueued(queued)
      else this.#startQueueTimeout(queued)
    },
    onExpired: (queued) => {
      const { connectionsMax, connectTimeoutMs } = this.#options
      const { share, inUse } = this.#share.missingOf(queued.claim)
      this.#unqueue(queued)
      queued.waiter.onFailure(new NoConnection(share, inUse, { connectionsMax, waitedMs: connectTimeoutMs }))
    },
  }

  readonly #onStallTimer = (): void => {
    this.#stallTimer = undefined
    // Nothing tells when a body has arrived, which makes room for one that waits.
    this.#serveQueue()
    if (this.#queue.size === 0) return
    endStalled(this.#slots, this.#queue.size, (this.#options.monotonic ?? monotonicClock)())
    this.#stallTimer = setTimeout(this.#onStallTimer, stallCheckMs).unref()
  }

  #unqueue(queued: QueuedWaiter): void {
    deadlines.remove(queued)
    this.#queue.remove(queued)
  }
}

const nothingPending: Acquisition = { cancel: noop, onBodyProgress: noop }

function noop(): void {}
