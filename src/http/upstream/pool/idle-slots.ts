import type { Socket } from 'node:net'
import type { MonotonicMs } from '#platform/time.ts'
import type { PoolUser } from './claim.ts'
import type { PoolSlot } from './pool-slot.ts'

const sweepMs = 1_000

/** The unused connections of a pool. */
export class IdleSlots {
  readonly #slots: PoolSlot[] = []
  readonly #bound = new BoundSlots()
  readonly #onDropped: (slot: PoolSlot) => void
  /** Set only while there is an idle connection, so that a pool without one does not wake an idle process. */
  #sweeper: NodeJS.Timeout | undefined

  /** @param onDropped called before a connection is closed here, after which the pool no longer has it */
  constructor(onDropped: (slot: PoolSlot) => void) {
    this.#onDropped = onDropped
  }

  /** Whether a connection is reserved for the next request of a client connection. */
  isBoundTo(client: Socket): boolean {
    return this.#bound.has(client)
  }

  /**
   * @param user the last one
   * @returns false if nobody may use it again
   */
  add(slot: PoolSlot, user: PoolUser | undefined): boolean {
    if (slot.connection?.isBound !== true) this.#slots.push(slot)
    else if (!this.#bound.add(slot, user)) return false
    this.#sweeper ??= setTimeout(this.#sweep, sweepMs).unref()
    return true
  }

  /** A connection that may carry a request of this user; undefined = there is none. */
  take(user: PoolUser, now: MonotonicMs): PoolSlot | undefined {
    const bound = this.#bound.size === 0 ? undefined : this.#bound.take(user)
    if (bound === undefined) return this.#takeShared(now)
    if (isUsable(bound, now)) return bound
    this.#drop(bound)
    return this.#takeShared(now)
  }

  /**
   * The connection used last, which is the least likely to have been closed by the target; none that may get stray
   * bytes.
   */
  #takeShared(now: MonotonicMs): PoolSlot | undefined {
    const slots = this.#slots
    for (let index = slots.length - 1; index >= 0; index--) {
      const slot = slots[index]
      if (!slot || now < (slot.connection?.reusableFrom ?? 0)) continue
      if (index === slots.length - 1) slots.pop()
      else slots.splice(index, 1)
      if (isUsable(slot, now)) return slot
      this.#drop(slot)
    }
    return undefined
  }

  dropOldest(): void {
    const slot = this.#slots.shift() ?? this.#bound.takeOldest()
    if (slot) this.#drop(slot)
  }

  /** Removes a slot whose connection is gone. Does nothing if it was in use. */
  remove(slot: PoolSlot): void {
    this.#bound.remove(slot)
    const index = this.#slots.indexOf(slot)
    if (index !== -1) this.#slots.splice(index, 1)
  }

  /** Closes them all. */
  close(): void {
    clearTimeout(this.#sweeper)
    for (const { connection } of [...this.#slots, ...this.#bound]) connection?.destroy()
  }

  #drop(slot: PoolSlot): void {
    this.#onDropped(slot)
    slot.connection?.destroy()
  }

  readonly #sweep = (): void => {
    const now = performance.now()
    for (const { connection } of [...this.#slots, ...this.#bound])
      if ((connection?.reusableUntil ?? 0) <= now) connection?.destroy()
    // One timer a second is cheaper than a timer for each request.
    const isEmpty = this.#slots.length === 0 && this.#bound.size === 0
    this.#sweeper = isEmpty ? undefined : setTimeout(this.#sweep, sweepMs).unref()
  }
}

function isUsable({ connection }: PoolSlot, now: MonotonicMs): boolean {
  return connection?.isOpen === true && connection.reusableFrom <= now && now < connection.reusableUntil
}

/**
 * Idle connections that clients may have authenticated (see bindsConnection), by client connection, the oldest first.
 * Each continues with the requests of its own client connection, and closes with it.
 */
class BoundSlots {
  readonly #slots = new Map<Socket, PoolSlot>()

  get size(): number {
    return this.#slots.size
  }

  has(client: Socket): boolean {
    return this.#slots.has(client)
  }

  [Symbol.iterator](): Iterator<PoolSlot> {
    return this.#slots.values()
  }

  /** @returns false if no request can come for it: its client has gone, or shares its connection with others */
  add(slot: PoolSlot, user: PoolUser | undefined): boolean {
    const socket = user?.clientSocket
    if (socket === undefined || socket.destroyed) return false
    // The client connection had another one, which began before this one was idle.
    this.#slots.get(socket)?.connection?.destroy()
    const onClose = () => slot.connection?.destroy()
    socket.once('close', onClose)
    slot.owner = { socket, accountId: user?.accountId, onClose }
    this.#slots.set(socket, slot)
    return true
  }

  /**
   * The connection of a client connection, which is then no longer idle. It is closed if another account is calling
   * now.
   */
  take({ clientSocket, accountId }: PoolUser): PoolSlot | undefined {
    const slot = clientSocket && this.#slots.get(clientSocket)
    if (slot === undefined) return undefined
    const isOwn = slot.owner?.accountId === accountId
    this.remove(slot)
    if (isOwn) return slot
    slot.connection?.destroy()
    return undefined
  }

  takeOldest(): PoolSlot | undefined {
    const [oldest] = this.#slots.values()
    if (oldest !== undefined) this.remove(oldest)
    return oldest
  }

  /** Does nothing if it is not there. */
  remove(slot: PoolSlot): void {
    const { owner } = slot
    if (owner === undefined) return
    slot.owner = undefined
    owner.socket.off('close', owner.onClose)
    this.#slots.delete(owner.socket)
  }
}
