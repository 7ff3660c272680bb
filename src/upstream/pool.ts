import { type Listed, UnorderedList } from '../platform/unordered-list.ts'
import { UpstreamFailure } from './failure.ts'
import { type ConnectionUsage, type ConnectionUser, mayTakeConnection } from './share.ts'
import type { ConnectionOpener, OpenEvents, UpstreamConnection } from './upstream-connection.ts'

export interface PoolOptions {
  readonly opener: ConnectionOpener
  readonly connectTimeoutMs: number
  /** In HTTP/2 it bounds the requests at a time. */
  readonly connectionsMax: number
}

/** Receives a connection; one of the two is called, once, unless the wait is cancelled before. */
export interface ConnectionReceiver {
  onConnection(connection: UpstreamConnection): void
  onFailure(failure: UpstreamFailure): void
}

/** Something that waits for a connection of the pool, and then uses it. */
export interface Waiter extends ConnectionReceiver, ConnectionUser {}

/** A wait for a connection. */
export interface Acquisition {
  cancel(): void
  /** To be called when more of the body has arrived, or all of it. */
  onBodyProgress(): void
}

/** One of the connections that the pool may have: connecting, in use or idle. */
interface PoolSlot extends Listed {
  user: Waiter | undefined
  connection: UpstreamConnection | undefined
}

interface QueuedWaiter extends Acquisition {
  readonly waiter: Waiter
  /** undefined = it waits for its client rather than for a connection. */
  timer: NodeJS.Timeout | undefined
  /** Set once a connection is being opened for it. */
  dialing: Acquisition | undefined
}

const sweepMs = 1_000

/** The connections to one target. */
export class Pool implements ConnectionUsage {
  readonly #options: PoolOptions
  readonly #slots = new UnorderedList<PoolSlot>()
  readonly #idle: PoolSlot[] = []
  readonly #queue = new Set<QueuedWaiter>()
  /** Only while there are idle connections: a pool without any wakes no idle process. */
  #sweeper: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(options: PoolOptions) {
    this.#options = options
  }

  get connectionsMax(): number {
    return this.#options.connectionsMax
  }

  get inUse(): number {
    return this.#slots.size - this.#idle.length
  }

  readonly users = (): Iterable<Waiter | undefined> => usersOf(this.#slots)

  /**
   * Provides an idle connection at once, else a new one, else the next that becomes free within the waiter's fair
   * share.
   * @param isNew true = no idle connection
   */
  acquire(waiter: Waiter, isNew: boolean): Acquisition {
    return mayTakeConnection(waiter, this) ? this.#take(waiter, isNew) : this.#enqueue(waiter)
  }

  /** Opens a connection that the pool does not count: for an upgrade, which keeps it. @returns cancels it */
  open(receiver: ConnectionReceiver): Acquisition {
    const events: OpenEvents = {
      onConnection: (connection) => {
        // The target answered without upgrading: no other request may use the connection.
        connection.onFree = () => connection.destroy()
        receiver.onConnection(connection)
      },
      onFailure: (failure) => receiver.onFailure(failure),
    }
    const cancel = this.#options.opener.open(events, true)
    return { cancel: () => void cancel(), onBodyProgress: noop }
  }

  /** Closes idle connections; requests that have a connection, or wait for one, are completed. */
  close(): void {
    this.#isClosed = true
    clearTimeout(this.#sweeper)
    this.#options.opener.close()
    for (const { connection } of [...this.#idle]) connection?.destroy()
  }

  #take(waiter: Waiter, isNew: boolean): Acquisition {
    const slot = isNew ? undefined : this.#takeIdle()
    if (slot?.connection) {
      slot.user = waiter
      waiter.onConnection(slot.connection)
      return nothingPending
    }
    // Those that are idle count too, and this one needs a new connection.
    if (this.#slots.size >= this.connectionsMax) this.#dropOldestIdle()
    return this.#dialCounted(waiter)
  }

  /** The connection used last, which the target is the least likely to have closed; none that may get stray bytes. */
  #takeIdle(): PoolSlot | undefined {
    const now = performance.now()
    for (let index = this.#idle.length - 1; index >= 0; index--) {
      const slot = this.#idle[index]
      if (!slot || now < (slot.connection?.reusableFrom ?? 0)) continue
      if (index === this.#idle.length - 1) this.#idle.pop()
      else this.#idle.splice(index, 1)
      const { connection } = slot
      if (connection?.isOpen && now < connection.reusableUntil) return slot
      this.#slots.remove(slot)
      connection?.destroy()
    }
    return undefined
  }

  #dropOldestIdle(): void {
    const slot = this.#idle.shift()
    if (!slot) return
    this.#slots.remove(slot)
    slot.connection?.destroy()
  }

  #dialCounted(waiter: Waiter): Acquisition {
    const slot: PoolSlot = { user: waiter, connection: undefined, place: -1 }
    this.#slots.add(slot)
    const events: OpenEvents = {
      onConnection: (connection) => {
        slot.connection = connection
        connection.onFree = (isReusable) => (isReusable ? this.#releaseSlot(slot) : this.#removeSlot(slot))
        waiter.onConnection(connection)
      },
      onFailure: (failure) => {
        this.#removeSlot(slot)
        waiter.onFailure(failure)
      },
    }
    const cancel = this.#options.opener.open(events, false)
    return {
      cancel: () => {
        if (cancel()) this.#removeSlot(slot)
      },
      onBodyProgress: noop,
    }
  }

  #releaseSlot(slot: PoolSlot): void {
    slot.user = undefined
    this.#idle.push(slot)
    this.#sweeper ??= setTimeout(this.#sweep, sweepMs).unref()
    if (this.#queue.size > 0) this.#serveQueue()
    if (this.#isClosed) for (const { connection } of [...this.#idle]) connection?.destroy()
  }

  #removeSlot(slot: PoolSlot): void {
    const index = this.#idle.indexOf(slot)
    if (index !== -1) this.#idle.splice(index, 1)
    this.#slots.remove(slot)
    if (this.#queue.size > 0) this.#serveQueue()
  }

  /** Serves those who have waited longest and are within their fair share. */
  #serveQueue(): void {
    // Each network and account is checked only once.
    const refused = new Set<string>()
    for (const queued of this.#queue) {
      if (this.inUse >= this.connectionsMax) return
      const { clientNetwork, accountId, bodyProgress } = queued.waiter
      const kind = `${clientNetwork} ${accountId} ${bodyProgress === 'complete'}`
      if (refused.has(kind)) continue
      if (mayTakeConnection(queued.waiter, this)) this.#serveQueued(queued)
      else refused.add(kind)
    }
  }

  #serveQueued(queued: QueuedWaiter): void {
    queued.dialing = this.#take(this.#unqueue(queued), false)
  }

  #enqueue(waiter: Waiter): Acquisition {
    const queued: QueuedWaiter = {
      waiter,
      timer: undefined,
      dialing: undefined,
      cancel: () => {
        this.#unqueue(queued)
        queued.dialing?.cancel()
      },
      onBodyProgress: () => {
        if (!this.#queue.has(queued)) return
        if (mayTakeConnection(waiter, this)) this.#serveQueued(queued)
        else this.#startQueueTimeout(queued)
      },
    }
    this.#queue.add(queued)
    this.#startQueueTimeout(queued)
    return queued
  }

  /** From when only a connection is missing. A client that sends slowly is bounded by the minimum rate of bodies. */
  #startQueueTimeout(queued: QueuedWaiter): void {
    const { connectionsMax, connectTimeoutMs } = this.#options
    if (queued.waiter.bodyProgress === 'pending') return
    queued.timer ??= setTimeout(() => {
      const detail = `all ${connectionsMax} connections were in use for ${connectTimeoutMs} ms`
      this.#unqueue(queued).onFailure(new UpstreamFailure('no-connection', detail))
    }, connectTimeoutMs)
  }

  #unqueue(queued: QueuedWaiter): Waiter {
    clearTimeout(queued.timer)
    this.#queue.delete(queued)
    return queued.waiter
  }

  readonly #sweep = (): void => {
    const now = performance.now()
    for (const { connection } of this.#idle.filter(
      ({ connection }) => (connection?.reusableUntil ?? 0) <= now,
    ))
      connection?.destroy()
    // That it was idle once is enough: one timer a second costs less than a timer for each request.
    this.#sweeper = this.#slots.size > 0 ? setTimeout(this.#sweep, sweepMs).unref() : undefined
  }
}

const nothingPending: Acquisition = { cancel: noop, onBodyProgress: noop }

function* usersOf(slots: Iterable<PoolSlot>): Iterable<Waiter | undefined> {
  for (const { user } of slots) yield user
}

function noop(): void {}
