import type { Socket } from 'node:net'
import type { Listed } from '#platform/deadline-sweep.ts'
import type { MonotonicMs } from '#platform/time.ts'
import type { BodyProgress } from '../../client-exchange.ts'
import type { UpstreamFailure } from '../../outgoing/failure.ts'
import type { UpstreamConnection } from '../../outgoing/upstream-connection.ts'

/** Somebody who uses a connection to a target, or waits for one. */
export interface ConnectionUser {
  /** The result of `clientNetwork`. */
  readonly clientNetwork: string
  /** undefined = no account. */
  readonly accountId: string | undefined
  /** Represents the HTTP/2 connection that its client's requests share; undefined = there is none. */
  readonly clientSession: object | undefined
  readonly bodyProgress: BodyProgress
}

/** The user of a connection, with what affects its reuse. */
export interface PoolUser extends ConnectionUser {
  /** The socket of its client, if it carries one request at a time; undefined = other requests share it. */
  readonly clientSocket: Socket | undefined
  /** Whether the request authenticates the connection that it is sent on (see bindsConnection). */
  readonly bindsConnection: boolean
}

/** Receives a connection; one of the two is called, once, unless the wait is cancelled before. */
export interface ConnectionReceiver {
  onConnection(connection: UpstreamConnection, now: MonotonicMs): void
  onFailure(failure: UpstreamFailure): void
}

/** Waits for a connection of the pool, and then uses it for its request. */
export interface Waiter extends ConnectionReceiver {
  readonly request: PoolUser
}

/** A wait for a connection. */
export interface Acquisition {
  cancel(): void
  /** To be called when more of the body has arrived, or all of it. */
  onBodyProgress(): void
}

/** A client network, an account, or a client's connection, as a user of one pool's connections. */
export interface Party {
  /** The number of its connections. */
  inUse: number
  /** The number of its requests that wait for one. */
  waiting: number
}

/** A client network with its waiting requests, in order of arrival. */
export interface ClientNetwork extends Party, Listed {
  first: Waiting | undefined
  last: Waiting | undefined
}

/** The parties whose shares a connection counts towards. */
export interface Claim {
  readonly network: ClientNetwork
  readonly account: Party | undefined
  readonly session: Party | undefined
}

/** A connection of the pool, in use or not. */
export interface Use {
  /** undefined = it is idle. */
  readonly user: ConnectionUser | undefined
  /** The claim of its user, or of the last one; undefined while Share does not count. */
  claim: Claim | undefined
}

/** A request that waits for a connection. The mutable properties are for the queue only. */
export interface Waiting {
  readonly user: ConnectionUser
  readonly claim: Claim
  /** Increases with the time of arrival; undefined = it does not wait. */
  number: number | undefined
  before: Waiting | undefined
  after: Waiting | undefined
}

/** Up to this number of parties none is dropped, as most come back. */
const keptMin = 1_024

/** The parties of one kind, by name. Idle ones are dropped each time that the number of parties has doubled. */
export class Parties<Kind extends Party> {
  readonly #create: () => Kind
  readonly #byName = new Map<string, Kind>()
  #purgeAt = keptMin

  constructor(create: () => Kind) {
    this.#create = create
  }

  of(name: string): Kind {
    const known = this.#byName.get(name)
    if (known !== undefined) return known
    if (this.#byName.size >= this.#purgeAt) this.#purge()
    const party = this.#create()
    this.#byName.set(name, party)
    return party
  }

  /** Forgets all parties, whatever they use. */
  clear(): void {
    this.#byName.clear()
    this.#purgeAt = keptMin
  }

  #purge(): void {
    for (const [name, { inUse, waiting }] of this.#byName)
      if (inUse === 0 && waiting === 0) this.#byName.delete(name)
    this.#purgeAt = Math.max(keptMin, 2 * this.#byName.size)
  }
}
