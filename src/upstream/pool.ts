import { SharedReader } from '../wire/shared-reader.ts'
import { Connection } from './connection.ts'
import { type DialEvents, type DialOptions, dial } from './dial.ts'
import { UpstreamFailure } from './failure.ts'
import { type ConnectionUse, type ConnectionUser, mayTakeConnection } from './share.ts'

export interface PoolOptions extends DialOptions {
  readonly connectionsMax: number
}

/** What gets a connection; one of the two is called, once, unless the wait is cancelled before. */
export interface ConnectionReceiver {
  onConnection(connection: Connection): void
  onFailure(failure: UpstreamFailure): void
}

/** Something that waits for a connection of the pool, and then uses it. */
export interface Waiter extends ConnectionReceiver, ConnectionUser {}

/** A wait for a connection. */
export interface Acquisition {
  cancel(): void
  /** To be called when more of the body has come, or all of it. */
  onBodyProgress(): void
}

/** One of the connections that the pool may have: being made, in use or idle. */
interface Place {
  user: Waiter | undefined
  connection: Connection | undefined
}

interface Queued extends Acquisition {
  readonly waiter: Waiter
  /** undefined = it waits for its client rather than for a connection. */
  timer: NodeJS.Timeout | undefined
  /** Set once a connection is being made for it. */
  dialing: Acquisition | undefined
}

const sweepMs = 1_000

/** The connections to one target. */
export class Pool implements ConnectionUse {
  readonly #options: PoolOptions
  readonly #places = new Set<Place>()
  readonly #idle: Place[] = []
  readonly #queue = new Set<Queued>()
  readonly #sweeper: NodeJS.Timeout
  #isClosed = false

  constructor(options: PoolOptions) {
    this.#options = options
    this.#sweeper = setInterval(() => this.#sweep(), sweepMs).unref()
  }

  get connectionsMax(): number {
    return this.#options.connectionsMax
  }

  get inUse(): number {
    return this.#places.size - this.#idle.length
  }

  readonly users = (): Iterable<Waiter | undefined> => usersOf(this.#places)

  /**
   * Gives an idle connection at once, else a new one, else the next that becomes free and is within the waiter's share.
   * @param isFresh true = no idle connection
   */
  acquire(waiter: Waiter, isFresh: boolean): Acquisition {
    return mayTakeConnection(waiter, this) ? this.#take(waiter, isFresh) : this.#enqueue(waiter)
  }

  /** Opens a connection outside the pool's count: for an upgrade, which keeps it. @returns cancels it */
  open(receiver: ConnectionReceiver): Acquisition {
    const cancel = dial(this.#options, {
      onSocket: (socket) => {
        const connection = new Connection(socket)
        // The target answered without upgrading: no other request may use the connection.
        connection.onFree = () => connection.destroy()
        receiver.onConnection(connection)
      },
      onFailure: (failure) => receiver.onFailure(failure),
    })
    return { cancel: () => void cancel(), onBodyProgress: nothing }
  }

  /** Keeps no idle connections any more; requests that have a connection, or wait for one, are served to the end. */
  close(): void {
    this.#isClosed = true
    clearInterval(this.#sweeper)
    for (const { connection } of [...this.#idle]) connection?.destroy()
  }

  #take(waiter: Waiter, isFresh: boolean): Acquisition {
    const place = isFresh ? undefined : this.#takeIdle()
    if (place?.connection) {
      place.user = waiter
      waiter.onConnection(place.connection)
      return taken
    }
    // Those that are idle count too, and this one needs a new connection.
    if (this.#places.size >= this.connectionsMax) this.#dropOldestIdle()
    return this.#dialCounted(waiter)
  }

  /** The connection used last, which the target is the least likely to have closed; none that has to settle. */
  #takeIdle(): Place | undefined {
    const now = performance.now()
    for (let index = this.#idle.length - 1; index >= 0; index--) {
      const place = this.#idle[index]
      if (!place || now < (place.connection?.settledAt ?? 0)) continue
      this.#idle.splice(index, 1)
      const { connection } = place
      if (connection && !connection.socket.destroyed && now < connection.reusableUntil) return place
      this.#places.delete(place)
      connection?.destroy()
    }
    return undefined
  }

  #dropOldestIdle(): void {
    const place = this.#idle.shift()
    if (!place) return
    this.#places.delete(place)
    place.connection?.destroy()
  }

  #dialCounted(waiter: Waiter): Acquisition {
    const place: Place = { user: waiter, connection: undefined }
    this.#places.add(place)
    const reader = this.#options.url.protocol === 'http:' ? new SharedReader() : undefined
    const events: DialEvents = {
      onSocket: (socket) => {
        const connection = new Connection(socket, reader)
        place.connection = connection
        connection.onFree = (isReusable) => (isReusable ? this.#release(place) : this.#forget(place))
        waiter.onConnection(connection)
      },
      onFailure: (failure) => {
        this.#forget(place)
        waiter.onFailure(failure)
      },
    }
    const cancel = dial(this.#options, events, reader?.onread)
    return {
      cancel: () => {
        if (cancel()) this.#forget(place)
      },
      onBodyProgress: nothing,
    }
  }

  #release(place: Place): void {
    place.user = undefined
    this.#idle.push(place)
    if (this.#queue.size > 0) this.#serve()
    if (this.#isClosed) for (const { connection } of [...this.#idle]) connection?.destroy()
  }

  #forget(place: Place): void {
    const index = this.#idle.indexOf(place)
    if (index !== -1) this.#idle.splice(index, 1)
    this.#places.delete(place)
    if (this.#queue.size > 0) this.#serve()
  }

  /** Serves those who have waited longest, and have not had their share. */
  #serve(): void {
    // One look at each network and account is enough.
    const refused = new Set<string>()
    for (const queued of this.#queue) {
      if (this.inUse >= this.connectionsMax) return
      const { clientNetwork, accountId, bodyProgress } = queued.waiter
      const kind = `${clientNetwork} ${accountId} ${bodyProgress === 'whole'}`
      if (refused.has(kind)) continue
      if (mayTakeConnection(queued.waiter, this)) this.#serveQueued(queued)
      else refused.add(kind)
    }
  }

  #serveQueued(queued: Queued): void {
    queued.dialing = this.#take(this.#unqueue(queued), false)
  }

  #enqueue(waiter: Waiter): Acquisition {
    const queued: Queued = {
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
        else this.#limitWait(queued)
      },
    }
    this.#queue.add(queued)
    this.#limitWait(queued)
    return queued
  }

  /** From when only a connection is missing. A client that sends slowly is bounded by the least rate of bodies. */
  #limitWait(queued: Queued): void {
    const { connectionsMax, connectTimeoutMs } = this.#options
    if (queued.waiter.bodyProgress === 'awaited') return
    queued.timer ??= setTimeout(() => {
      const detail = `none of ${connectionsMax} connections could be used for ${connectTimeoutMs} ms`
      this.#unqueue(queued).onFailure(new UpstreamFailure('no-connection', detail))
    }, connectTimeoutMs)
  }

  #unqueue(queued: Queued): Waiter {
    clearTimeout(queued.timer)
    this.#queue.delete(queued)
    return queued.waiter
  }

  #sweep(): void {
    const now = performance.now()
    for (const { connection } of this.#idle.filter(
      ({ connection }) => (connection?.reusableUntil ?? 0) <= now,
    ))
      connection?.destroy()
  }
}

const taken: Acquisition = { cancel: nothing, onBodyProgress: nothing }

function* usersOf(places: Iterable<Place>): Iterable<Waiter | undefined> {
  for (const { user } of places) yield user
}

function nothing(): void {}
