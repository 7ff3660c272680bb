import type { Socket } from 'node:net'
import type { Listed } from '#platform/unordered-list.ts'
import type { ConnectionHolder, UpstreamConnection } from '../upstream-connection.ts'
import type { Claim, PoolUser, Use } from './claim.ts'

/** The pool of a slot. */
export interface SlotEvents {
  onFree(slot: PoolSlot, isReusable: boolean): void
  onLasting(slot: PoolSlot): void
}

/** The only client connection that may use a connection which it may have authenticated. */
export interface Owner {
  readonly socket: Socket
  /** A proxy in front of the gateway may send the requests of several people on one connection. */
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
  /** Whether it carries a response that lasts, and so counts apart. */
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
