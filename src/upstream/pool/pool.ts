import type { Socket } from 'node:net'
import { monotonicClock } from '../../platform/clock.ts'
import { DeadlineSweep } from '../../platform/deadline-sweep.ts'
import { UnorderedList } from '../../platform/unordered-list.ts'
import { UpstreamFailure } from '../failure.ts'
import type { ConnectionOpener, OpenEvents } from '../upstream-connection.ts'
import type { Acquisition, ConnectionReceiver, Waiter } from './acquisition.ts'
import { BoundSlots } from './bound-slots.ts'
import type { Claim, PoolUser } from './claim.ts'
import { PoolSlot, type SlotEvents } from './pool-slot.ts'
import { QueuedWaiter, type QueueEvents } from './queued-waiter.ts'
import { Share } from './share.ts'
import { WaitingQueue } from './waiting-queue.ts'

export interface PoolOptions {
  readonly opener: ConnectionOpener
  readonly connectTimeoutMs: number
  /** In HTTP/2 it bounds the requests at a time. */
  readonly connectionsMax: number
}

/** The time-outs of all that wait. */
const deadlines = new DeadlineSweep(50)

const sweepMs = 1_000

/** The connections to one target. */
export class Pool {
  readonly #options: PoolOptions
  readonly #share: Share
  readonly #slots = new UnorderedList<PoolSlot>()
  readonly #idle: PoolSlot[] = []
  readonly #bound = new BoundSlots()
  readonly #queue = new WaitingQueue<QueuedWaiter>()
  /** Only while there are idle connections: a pool without any wakes no idle process. */
  #sweeper: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(options: PoolOptions) {
    this.#options = options
    this.#share = new Share(options.connectionsMax, this.#slots)
  }

  /**
   * Provides an idle connection at once, else a new one, else the next that becomes free within the waiter's fair
   * share.
   * @param isNew true = no idle connection
   */
  acquire(waiter: Waiter, isNew: boolean): Acquisition {
    if (this.#share.isPlenty) return this.#take(waiter, undefined, isNew)
    const claim = this.#share.claimOf(waiter.request)
    const mayTake = this.#share.mayTake(claim, waiter.request.bodyProgress)
    return mayTake ? this.#take(waiter, claim, isNew) : this.#enqueue(waiter, claim)
  }

  /** Opens a connection that the pool does not count: for an upgrade, which keeps it. @returns cancels it */
  open(receiver: ConnectionReceiver): Acquisition {
    const events: OpenEvents = {
      onConnection: (connection) => {
        // The target answered without upgrading: no other request may use the connection.
        connection.holder = { onFree: () => connection.destroy() }
        receiver.onConnection(connection, monotonicClock())
      },
      onFailure: (failure) => receiver.onFailure(failure),
    }
    const cancel = this.#options.opener.open(events, 'upgrade')
    return { cancel: () => void cancel(), onBodyProgress: noop }
  }

  /** Whether a connection waits for the next request of a client connection alone. */
  isBoundTo(client: Socket): boolean {
    return this.#bound.has(client)
  }

  /** Closes idle connections; requests that have a connection, or wait for one, are completed. */
  close(): void {
    this.#isClosed = true
    clearTimeout(this.#sweeper)
    this.#options.opener.close()
    this.#closeIdle()
  }

  #closeIdle(): void {
    for (const { connection } of [...this.#idle, ...this.#bound]) connection?.destroy()
  }

  #take(waiter: Waiter, claim: Claim | undefined, isNew: boolean): Acquisition {
    this.#share.take(claim)
    const now = monotonicClock()
    const slot = isNew ? undefined : (this.#takeBound(waiter.request, now) ?? this.#takeIdle(now))
    if (slot?.connection) {
      slot.user = waiter.request
      slot.claim = claim
      waiter.onConnection(slot.connection, now)
      return nothingPending
    }
    // Those that are idle count too, and this one needs a new connection.
    if (this.#slots.size >= this.#options.connectionsMax) this.#dropOldestIdle()
    return this.#dialCounted(waiter, claim)
  }

  #takeBound(user: PoolUser, now: number): PoolSlot | undefined {
    const slot = this.#bound.size === 0 ? undefined : this.#bound.take(user)
    if (slot === undefined || isUsable(slot, now)) return slot
    this.#slots.remove(slot)
    slot.connection?.destroy()
    return undefined
  }

  /** The connection used last, which the target is the least likely to have closed; none that may get stray bytes. */
  #takeIdle(now: number): PoolSlot | undefined {
    for (let index = this.#idle.length - 1; index >= 0; index--) {
      const slot = this.#idle[index]
      if (!slot || now < (slot.connection?.reusableFrom ?? 0)) continue
      if (index === this.#idle.length - 1) this.#idle.pop()
      else this.#idle.splice(index, 1)
      if (isUsable(slot, now)) return slot
      this.#slots.remove(slot)
      slot.connection?.destroy()
    }
    return undefined
  }

  #dropOldestIdle(): void {
    const slot = this.#idle.shift() ?? this.#bound.takeOldest()
    if (!slot) return
    this.#slots.remove(slot)
    slot.connection?.destroy()
  }

  #dialCounted(waiter: Waiter, claim: Claim | undefined): Acquisition {
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
    const cancel = this.#options.opener.open(events, waiter.request.bindsConnection ? 'bound' : 'request')
    return {
      cancel: () => {
        if (cancel()) this.#removeSlot(slot)
      },
      onBodyProgress: noop,
    }
  }

  readonly #slotEvents: SlotEvents = {
    onFree: (slot, isReusable) => (isReusable ? this.#releaseSlot(slot) : this.#removeSlot(slot)),
  }

  #releaseSlot(slot: PoolSlot): void {
    const { user, connection } = slot
    const isBound = connection?.isBound === true
    if (isBound && !this.#bound.add(slot, user)) {
      connection.destroy()
      return
    }
    this.#endUse(slot)
    if (!isBound) this.#idle.push(slot)
    this.#sweeper ??= setTimeout(this.#sweep, sweepMs).unref()
    this.#serveQueue()
    if (this.#isClosed) this.#closeIdle()
  }

  #removeSlot(slot: PoolSlot): void {
    this.#endUse(slot)
    this.#bound.remove(slot)
    const index = this.#idle.indexOf(slot)
    if (index !== -1) this.#idle.splice(index, 1)
    this.#slots.remove(slot)
    this.#serveQueue()
  }

  #endUse(slot: PoolSlot): void {
    if (slot.user === undefined) return
    slot.user = undefined
    this.#share.release(slot.claim)
  }

  /** Serves those who have waited longest and are within their fair share. */
  #serveQueue(): void {
    while (!this.#queue.isEmpty) {
      const queued = this.#queue.next(this.#share)
      if (!queued) return
      this.#serveQueued(queued)
    }
    this.#share.onNobodyWaits()
  }

  #serveQueued(queued: QueuedWaiter): void {
    this.#unqueue(queued)
    queued.dialing = this.#take(queued.waiter, queued.claim, false)
  }

  #enqueue(waiter: Waiter, claim: Claim): Acquisition {
    const queued = new QueuedWaiter(waiter, claim, this.#queueEvents)
    this.#queue.add(queued)
    this.#startQueueTimeout(queued)
    return queued
  }

  /** From when only a connection is missing. A client that sends slowly is bounded by the minimum rate of bodies. */
  #startQueueTimeout(queued: QueuedWaiter): void {
    if (queued.user.bodyProgress === 'pending' || queued.place !== -1) return
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
      const detail = `all ${connectionsMax} connections were in use for ${connectTimeoutMs} ms`
      this.#unqueue(queued)
      queued.waiter.onFailure(new UpstreamFailure('no-connection', detail))
    },
  }

  #unqueue(queued: QueuedWaiter): void {
    deadlines.remove(queued)
    this.#queue.remove(queued)
  }

  readonly #sweep = (): void => {
    const now = monotonicClock()
    for (const { connection } of [...this.#idle, ...this.#bound])
      if ((connection?.reusableUntil ?? 0) <= now) connection?.destroy()
    // That it was idle once is enough: one timer a second costs less than a timer for each request.
    this.#sweeper = this.#slots.size > 0 ? setTimeout(this.#sweep, sweepMs).unref() : undefined
  }
}

function isUsable({ connection }: PoolSlot, now: number): boolean {
  return connection?.isOpen === true && connection.reusableFrom <= now && now < connection.reusableUntil
}

const nothingPending: Acquisition = { cancel: noop, onBodyProgress: noop }

function noop(): void {}
