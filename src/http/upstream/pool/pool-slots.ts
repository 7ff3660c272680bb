import type { Socket } from 'node:net'
import type { Listed } from '#platform/deadline-sweep.ts'
import { type MonotonicMs, monotonicClock } from '#platform/time.ts'
import { UpstreamFailure } from '../../outgoing/failure.ts'
import type { ConnectionHolder, UpstreamConnection } from '../../outgoing/upstream-connection.ts'
import type { Claim, PoolUser, Use } from './parties.ts'

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

  /** Whether a connection is reserved for the client connection of this user. */
  hasBound(user: Pick<PoolUser, 'clientSocket'>): boolean {
    // Only then, as asking for the socket may make its stream.
    if (this.#bound.byClient.size === 0) return false
    return user.clientSocket !== undefined && this.#bound.byClient.has(user.clientSocket)
  }

  /**
   * @param user its last user
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
    const bound = this.#bound.byClient.size === 0 ? undefined : this.#bound.take(user)
    if (bound && isUsable(bound, now)) return bound
    if (bound) this.#drop(bound)
    return this.#takeShared(now)
  }

  /**
   * The connection that was used last, as the target is least likely to have closed it; never one that may still get
   * stray bytes.
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
    for (const { connection } of [...this.#slots, ...this.#bound.byClient.values()]) connection?.destroy()
  }

  #drop(slot: PoolSlot): void {
    this.#onDropped(slot)
    slot.connection?.destroy()
  }

  readonly #sweep = (): void => {
    const now = monotonicClock()
    for (const { connection } of [...this.#slots, ...this.#bound.byClient.values()])
      if ((connection?.reusableUntil ?? 0) <= now) connection?.destroy()
    // One timer a second is cheaper than a timer for each request.
    const isEmpty = this.#slots.length === 0 && this.#bound.byClient.size === 0
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
  readonly byClient = new Map<Socket, PoolSlot>()

  /** @returns false if no request can come for it: its client has gone, or shares its connection with others */
  add(slot: PoolSlot, user: PoolUser | undefined): boolean {
    const socket = user?.clientSocket
    if (socket === undefined || socket.destroyed) return false
    // A client connection keeps only one. An earlier one is removed at once: it only closes once this one is added.
    const earlier = this.byClient.get(socket)
    if (earlier) {
      this.remove(earlier)
      earlier.connection?.destroy()
    }
    const onClose = () => slot.connection?.destroy()
    socket.once('close', onClose)
    slot.owner = { socket, accountId: user?.accountId, onClose }
    this.byClient.set(socket, slot)
    return true
  }

  /**
   * The connection of a client connection, which is then no longer idle. It is closed if another account is calling
   * now.
   */
  take({ clientSocket, accountId }: PoolUser): PoolSlot | undefined {
    const slot = clientSocket && this.byClient.get(clientSocket)
    if (slot === undefined) return undefined
    const isOwn = slot.owner?.accountId === accountId
    this.remove(slot)
    if (isOwn) return slot
    slot.connection?.destroy()
    return undefined
  }

  takeOldest(): PoolSlot | undefined {
    const [oldest] = this.byClient.values()
    if (oldest !== undefined) this.remove(oldest)
    return oldest
  }

  /** Does nothing if it is not there. */
  remove(slot: PoolSlot): void {
    const { owner } = slot
    if (owner === undefined) return
    slot.owner = undefined
    owner.socket.off('close', owner.onClose)
    this.byClient.delete(owner.socket)
  }
}

/** What a slot tells its pool. */
export interface SlotEvents {
  onFree(slot: PoolSlot, isReusable: boolean): void
  onLasting(slot: PoolSlot): void
}

/** The only client connection that may use a connection which it may have authenticated. */
interface Owner {
  readonly socket: Socket
  /** A proxy in front of the gateway may send requests of several people on one connection. */
  readonly accountId: string | undefined
  readonly onClose: () => void
}

/** One of the connections that a pool may have: connecting, in use or idle. */
export class PoolSlot implements Listed, Use, ConnectionHolder {
  place = -1
  user: PoolUser | undefined
  claim: Claim | undefined
  connection: UpstreamConnection | undefined
  /** Set while it waits for the next request of its owner. */
  owner: Owner | undefined
  /** Whether it carries a long-lived response, which the pool counts apart. */
  isLasting = false
  readonly #events: SlotEvents

  constructor(user: PoolUser, claim: Claim | undefined, events: SlotEvents) {
    this.user = user
    this.claim = claim
    this.#events = events
  }

  onFree(isReusable: boolean): void {
    this.#events.onFree(this, isReusable)
  }

  onLasting(): void {
    this.#events.onLasting(this)
  }
}

/** How long a client may read nothing of its response while others wait for a connection. */
export const stalledMs = 10_000

/**
 * Ends the requests whose clients have read nothing for the longest time, one for each that waits: otherwise they would
 * keep their connections until the send timeout.
 */
export function endStalled(slots: Iterable<PoolSlot>, waiting: number, now: MonotonicMs): void {
  const stalled = [...slots].filter((slot) => pausedAt(slot) <= now - stalledMs)
  stalled.sort((one, other) => pausedAt(one) - pausedAt(other))
  for (const { connection } of stalled.slice(0, waiting))
    connection?.fail(
      new UpstreamFailure('response-stalled', 'the client did not read its response while others waited'),
    )
}

function pausedAt({ user, connection }: PoolSlot): MonotonicMs {
  return user === undefined ? Number.POSITIVE_INFINITY : (connection?.pausedAt ?? Number.POSITIVE_INFINITY)
}
