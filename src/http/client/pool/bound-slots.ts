import type { Socket } from 'node:net'
import type { PoolUser } from './claim.ts'
import type { PoolSlot } from './pool-slot.ts'

/**
 * Idle connections that clients may have authenticated (see connection-auth.ts), by client connection, the oldest first.
 * Each goes on with the requests of its own, and closes with it.
 */
export class BoundSlots {
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

  /** @returns false where nothing can come for it: its client has gone, or shares its connection with others */
  add(slot: PoolSlot, user: PoolUser | undefined): boolean {
    const socket = user?.clientSocket
    if (socket === undefined || socket.destroyed) return false
    // It had begun before this one was idle.
    this.#slots.get(socket)?.connection?.destroy()
    const onClose = () => slot.connection?.destroy()
    socket.once('close', onClose)
    slot.owner = { socket, accountId: user?.accountId, onClose }
    this.#slots.set(socket, slot)
    return true
  }

  /** The one of a client connection: it is no longer idle. It closes where another account calls now. */
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
