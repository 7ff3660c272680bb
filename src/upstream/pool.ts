import { SharedReader } from '../wire/shared-reader.ts'
import { Connection } from './connection.ts'
import { type DialEvents, type DialOptions, dial } from './dial.ts'
import { UpstreamFailure } from './failure.ts'

export interface PoolOptions extends DialOptions {
  readonly connectionsMax: number
}

/** Something that waits for a connection; one of the two is called, once, unless the wait is cancelled before. */
export interface Waiter {
  onConnection(connection: Connection): void
  onFailure(failure: UpstreamFailure): void
}

interface Queued {
  readonly waiter: Waiter
  readonly timer: NodeJS.Timeout
  /** Set once a connection is being made for it. */
  cancelDial: (() => void) | undefined
}

const sweepMs = 1_000

/** The connections to one target. */
export class Pool {
  readonly #options: PoolOptions
  readonly #idle: Connection[] = []
  readonly #queue = new Set<Queued>()
  readonly #sweeper: NodeJS.Timeout
  #open = 0
  #isClosed = false

  constructor(options: PoolOptions) {
    this.#options = options
    this.#sweeper = setInterval(() => this.#sweep(), sweepMs).unref()
  }

  /**
   * Gives an idle connection at once, else a new one, else the next that becomes free.
   * @param isFresh true = no idle connection
   * @returns cancels it
   */
  acquire(waiter: Waiter, isFresh: boolean): () => void {
    const connection = isFresh ? undefined : this.#takeIdle()
    if (connection) {
      waiter.onConnection(connection)
      return nothing
    }
    return this.#open < this.#options.connectionsMax ? this.#dialCounted(waiter) : this.#enqueue(waiter)
  }

  /** Opens a connection outside the pool's count: for an upgrade, which keeps it. @returns cancels it */
  open(waiter: Waiter): () => void {
    const cancel = dial(this.#options, {
      onSocket: (socket) => {
        const connection = new Connection(socket)
        // The target answered without upgrading: no other request may use the connection.
        connection.onFree = () => connection.destroy()
        waiter.onConnection(connection)
      },
      onFailure: (failure) => waiter.onFailure(failure),
    })
    return () => void cancel()
  }

  /** Keeps no idle connections any more; requests that have a connection, or wait for one, are served to the end. */
  close(): void {
    this.#isClosed = true
    clearInterval(this.#sweeper)
    for (const connection of [...this.#idle]) connection.destroy()
  }

  /** The connection used last, which the target is the least likely to have closed. */
  #takeIdle(): Connection | undefined {
    for (let connection = this.#idle.pop(); connection; connection = this.#idle.pop()) {
      if (!connection.socket.destroyed && performance.now() < connection.reusableUntil) return connection
      connection.destroy()
    }
    return undefined
  }

  #dialCounted(waiter: Waiter): () => void {
    this.#open++
    const reader = this.#options.url.protocol === 'http:' ? new SharedReader() : undefined
    const events: DialEvents = {
      onSocket: (socket) => {
        const connection = new Connection(socket, reader)
        connection.onFree = (isReusable) =>
          isReusable ? this.#release(connection) : this.#forget(connection)
        waiter.onConnection(connection)
      },
      onFailure: (failure) => {
        this.#freePlace()
        waiter.onFailure(failure)
      },
    }
    const cancel = dial(this.#options, events, reader?.onread)
    return () => {
      if (cancel()) this.#freePlace()
    }
  }

  #release(connection: Connection): void {
    const [next] = this.#queue
    if (next) this.#unqueue(next).onConnection(connection)
    else if (this.#isClosed) connection.destroy()
    else this.#idle.push(connection)
  }

  #forget(connection: Connection): void {
    const index = this.#idle.indexOf(connection)
    if (index !== -1) this.#idle.splice(index, 1)
    this.#freePlace()
  }

  /** Dials a connection for the waiter that has waited longest. */
  #freePlace(): void {
    this.#open--
    const [next] = this.#queue
    if (next) next.cancelDial = this.#dialCounted(this.#unqueue(next))
  }

  #enqueue(waiter: Waiter): () => void {
    const { connectionsMax, connectTimeoutMs } = this.#options
    const timer = setTimeout(() => {
      const detail = `all ${connectionsMax} connections were in use for ${connectTimeoutMs} ms`
      this.#unqueue(queued).onFailure(new UpstreamFailure('no-connection', detail))
    }, connectTimeoutMs)
    const queued: Queued = { waiter, timer, cancelDial: undefined }
    this.#queue.add(queued)
    return () => {
      this.#unqueue(queued)
      queued.cancelDial?.()
    }
  }

  #unqueue(queued: Queued): Waiter {
    clearTimeout(queued.timer)
    this.#queue.delete(queued)
    return queued.waiter
  }

  #sweep(): void {
    const now = performance.now()
    for (const connection of this.#idle.filter(({ reusableUntil }) => reusableUntil <= now))
      connection.destroy()
  }
}

function nothing(): void {}
